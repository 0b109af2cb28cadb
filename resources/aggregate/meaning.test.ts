// What values of a pipeline are made of: which operators pass the value of a scalar on, and that documents in documents take no longer.
import { expect, test } from 'vitest';
import { parseType, type ScalarDefinition } from '../../model/types/index.ts';
import { parseJson } from '../../model/values/index.ts';
import type { Holder } from '../scalars/index.ts';
import { giving, type Meaning, meaningOf } from './meaning.ts';
import { shapeOf } from './shape.ts';

const scalars = new Map<string, ScalarDefinition>(
  ['Fill', 'Size'].map((name) => [name, { name, baseType: 'Integer', toExternal: 'show' }]),
);
const inner = parseType({ name: 'Inner', properties: { fill: { type: 'Fill' }, n: { type: 'Integer' } } }, { types: new Map(), scalars });
const basin = parseType(
  {
    name: 'Basin',
    properties: {
      fill: { type: 'Fill' },
      fills: { type: 'Fill', multi: true },
      size: { type: 'Size' },
      n: { type: 'Integer' },
      in: { type: 'Inner' },
    },
  },
  { types: new Map([['Inner', inner]]), scalars },
);
const shape = shapeOf(basin, false);

/** A scalar's name, the members of an Object as such, or null. */
const shownAs = (meaning: Meaning): unknown => {
  if (meaning === null || meaning === 'constant') return meaning;
  if (meaning.scalar) return meaning.scalar.name;
  const members: [string, Holder][] = [...(meaning.structure?.()?.properties ?? [])];
  return members.length === 0 ? null : Object.fromEntries(members.map(([name, one]) => [name, shownAs(one)]));
};

test.each<[string, unknown]>([
  ['"$fill"', 'Fill'],
  ['"$fills"', 'Fill'],
  ['"$n"', null],
  ['"$in.fill"', 'Fill'],
  ['"$in.n"', null],
  ['"$none.fill"', null],
  ['"$$ROOT.fill"', 'Fill'],
  ['5', 'constant'],
  ['{"f": "$fill", "n": "$n"}', { f: 'Fill', n: null }],
  ['{"n": "$n"}', null],
  ['{"$cond": [true, {"v": "$fill", "s": "$fill"}, {"v": "$n", "s": "$fill"}]}', { v: null, s: 'Fill' }],
  ['{"$cond": [true, {"v": "$n", "s": "$fill"}, {"v": "$fill", "s": "$fill"}]}', { v: null, s: 'Fill' }],
  ['{"$cond": [true, {"v": 1, "s": "$fill"}, {"v": "$fill", "s": "$fill"}]}', { v: 'Fill', s: 'Fill' }],
  ['{"$ifNull": [{"v": "$n", "s": "$fill"}, {"s": "$fill"}, {"v": "$fill", "s": "$fill"}]}', { v: null, s: 'Fill' }],
  ['{"$add": ["$fill", 1]}', null],
  ['{"$ifNull": ["$fill", 0]}', 'Fill'],
  ['{"$ifNull": ["$fill", "$size"]}', null],
  ['{"$ifNull": ["$fill", {"$add": [1, 2]}]}', null],
  ['{"$cond": {"if": true, "then": "$fill", "else": null}}', 'Fill'],
  ['{"$cond": ["$size", "$fill", 1]}', 'Fill'],
  ['{"$switch": {"branches": [{"case": "$size", "then": "$fill"}], "default": 0}}', 'Fill'],
  ['{"$arrayElemAt": ["$fills", "$n"]}', 'Fill'],
  ['{"$filter": {"input": "$fills", "cond": {"$gt": ["$$this", 1]}}}', 'Fill'],
  ['{"$map": {"input": "$fills", "as": "f", "in": {"v": "$$f"}}}', { v: 'Fill' }],
  ['{"$let": {"vars": {"x": "$in"}, "in": "$$x.fill"}}', 'Fill'],
  ['{"$reduce": {"input": "$fills", "initialValue": [], "in": {"$concatArrays": ["$$value", ["$$this"]]}}}', 'Fill'],
  ['{"$mergeObjects": ["$in", {"s": "$size", "fill": "$size"}]}', { fill: null, n: null, s: 'Size' }],
  ['{"$literal": "$fill"}', 'constant'],
  ['{"$toString": "$fill"}', null],
])('%s', (expression, expected) => {
  expect(shownAs(meaningOf(parseJson(expression), shape))).toEqual(expected);
});

test('a dotted name changes a member', () => {
  const { computed } = giving(shape, [
    ['in.fill', meaningOf('$size', shape)],
    ['in.more', meaningOf('$fill', shape)],
    ['n', null],
  ]);
  expect([...computed].map(([name, one]) => [name, shownAs(one)])).toEqual([['in', { fill: 'Size', n: null, more: 'Fill' }]]);
});

test('documents that are put into themselves are not gone through again and again', () => {
  let current = giving(shape, [['r', meaningOf('$in', shape)]]);
  for (let stage = 0; stage < 50; stage++)
    current = giving(current, [['r', meaningOf(parseJson('{"p": {"n": "$n", "in": "$r"}, "q": "$r", "s": "$size"}'), current)]]);
  expect(shownAs(meaningOf('$r.s', current))).toBe('Size');
  expect(shownAs(meaningOf(parseJson('{"$ifNull": ["$r.p.in.s", {"$ifNull": ["$r.q", "$r"]}]}'), current))).toBeNull();
});
