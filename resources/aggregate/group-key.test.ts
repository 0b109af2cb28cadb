// Keys of groups that are long are made in pieces, and are those that are made at once.
import { expect, test } from 'vitest';
import { equalText } from '../../stdlib/operators/index.ts';
import { Real, type Value } from '../../stdlib/values/index.ts';
import { groupKey } from './group-key.ts';

const space = { name: 'groups' };
const long = (one: Value): Value => ({
  list: Array.from({ length: 3_000 }, () => [one, 'text']),
  'a.b': Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`k${(i * 7) % 3_000}`, { z: 1, a: one }])),
});

test('a long key is the same in pieces', async () => {
  const made = groupKey(space, { k: long(1) });
  expect(made).toBeInstanceOf(Promise);
  expect((await made) === equalText({ k: long(new Real(1)) })).toBe(true);
});
