import { expect, test } from 'vitest';
import { toFilter } from '../../model/query/index.ts';
import { parse, typeOf } from '../../model/query/testing.ts';
import { timeLimit } from './time-limit.ts';

const type = typeOf('T', { s: 'String', t: 'String multi', o: 'Object', os: 'Object multi', n: 'Integer' });
const limited = (where: string) => timeLimit(toFilter(parse(where, type))).maxTimeMS !== undefined;

test.each([
  '{"s":{"$regex":"a"}}',
  '{"n":1,"s":{"$regex":"a"}}',
  '{"s":{"$not":{"$regex":"a"}}}',
  '{"t":{"$elemMatch":{"$regex":"a"}}}',
  '{"os":{"$elemMatch":{"x":{"$regex":"a"}}}}',
  '{"$or":[{"n":1},{"$nor":[{"o.x":{"$regex":"a"}}]}]}',
  '{"$and":[{"s":{"$regex":"a"}},{"s":{"$regex":"b"}}]}',
])('a query with a regular expression is bounded in time: %s', (where) => expect(limited(where)).toBe(true));

test.each(['{}', '{"s":"$regex"}', '{"o":{"a":1}}', '{"s":{"$in":["a"]}}', '{"n":{"$gt":1}}'])(
  'a query without a pattern is not: %s',
  (where) => expect(limited(where)).toBe(false),
);
