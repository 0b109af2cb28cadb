// Recommenders (builtins.md 27), called by programs through an engine; properties of the rankings.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { getOwn, numberOf, type ObjectValue } from '../../stdlib/values/index.ts';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { best, byLikeness, byPlace, type Ranked } from './rankings.ts';
import { evaluator } from '../builtins/testing/value.ts';

let t: TestEngine;
beforeAll(async () => {
  t = await openTestEngine();
  await t.type('C', { n: { type: 'String' }, v: { type: 'Integer' }, at: { type: 'GeoJSON' }, due: { type: 'DateTime' } });
  await t.type('Plain', { w: { type: 'Integer' } });
});
afterAll(() => t[Symbol.asyncDispose]());

const value = evaluator(() => t);
type Row = Record<string, unknown>;

/** The result of a work in pieces, and how often it gave way. */
function finished(work: Generator<undefined, Ranked[]>): { result: Ranked[]; pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const { done, value: result } = work.next();
    if (done) return { result, pauses };
  }
}

test('the example of builtins.md 27 ranks the nearer value first', async () => {
  await t.ask('insert', 'C', { body: '[{"n":"x","v":0},{"n":"y","v":10}]' });
  const found = (await value('Recommend.defaultRecommendations(null, {v: 2}, "C")')) as Row[];
  expect(found.map(({ n, ars_relevance }) => [n, ars_relevance])).toEqual([
    ['x', 0.8],
    ['y', 0.2],
  ]);
  expect(found[0]?.['ars_reason']).toBe('Alike: v 80 %');
});

test('directives limit the number and exclude properties; the pattern itself is excluded', async () => {
  const names = async (call: string): Promise<unknown> =>
    ((await value(`Recommend.defaultRecommendations(${call})`)) as Row[]).map(({ n }) => n);
  expect(await names('{maxRecommendations: 1}, {v: 9}, "C"')).toEqual(['y']);
  expect(await names('{excludeProperties: ["v"]}, {v: 9, n: "x"}, "C"')).toEqual(['x', 'y']);
  expect(await names('{}, {other: 1}, "C"')).toEqual([]);
  const [x] = await t.rows('C', { n: 'x' });
  expect(await names(`null, {_id: "${String(x?.['_id'])}", v: 0}, "C"`)).toEqual(['y']);
  expect(await names(`null, {_id: "${String(x?.['_id'])}", v: 0}, "C", "Plain"`)).toEqual(['x', 'y']);
  expect(await value('Recommend.defaultRecommendations({maxRecommendations: 0}, {v: 1}, "C")')).toBe(
    'cascade.lang.range ["maxRecommendations",0]',
  );
  expect(await value('Recommend.defaultRecommendations(null, {v: 1}, "No")')).toBe('cascade.resource.not.found ["/types/No"]');
});

test('nearby ranks by distance within a bound, and excludes candidates without a place', async () => {
  await t.ask('insert', 'C', {
    body: '[{"n":"near","at":{"type":"Point","coordinates":[0,0.01]}},{"n":"far","at":{"type":"Point","coordinates":[0,1]}}]',
  });
  const nearby = (rest: string): string => `Recommend.nearbyRecommendations(${rest})`;
  const pattern = '{at: {type: "Point", coordinates: [0.0, 0.0]}}';
  const found = (await value(nearby(`null, ${pattern}, "C"`))) as Row[];
  expect(found.map(({ n }) => n)).toEqual(['near', 'far']);
  const [{ ars_distance: metres = 0, ars_relevance: relevance } = {}] = found;
  expect(Number(metres)).toBeCloseTo(1113.2, 0);
  expect(relevance).toBeCloseTo(1 / (1 + Number(metres) / 1000), 10);
  expect(((await value(nearby(`{maxDistance: ${String(metres)}}, ${pattern}, "C"`))) as Row[]).map(({ n }) => n)).toEqual(['near']);
  expect(await value(nearby(`null, ${pattern}, "C", "Plain"`))).toBe(
    'cascade.recommend.type.mismatch ["Recommend.nearbyRecommendations","Plain"]',
  );
  expect(await value(nearby('null, {v: 1}, "C"'))).toBe('cascade.lang.range ["pattern","an Object without a Point"]');
});

test('amounts of another currency are not alike, and do not stretch the scale', async () => {
  await t.type('Offer', { price: { type: 'Currency', scale: 2 } });
  const prices = ['USD:5.00', 'EUR:5.00', 'USD:7.00', 'JPY:900.00'];
  await t.ask('insert', 'Offer', { body: JSON.stringify(prices.map((price) => ({ price }))) });
  const found = (await value('Recommend.defaultRecommendations(null, {price: "USD:5.00"}, "Offer")')) as Row[];
  expect(found.map(({ price, ars_relevance }) => [String(price), ars_relevance])).toEqual([
    ['USD:5.00', 1],
    ['EUR:5.00', 0],
    ['USD:7.00', 0],
    ['JPY:900.00', 0],
  ]);
});

test('what is not compared is read of the recommended alone: candidates may be long, and many', async () => {
  await t.type('Long', { v: { type: 'Integer' }, text: { type: 'String' } });
  const text = 'x'.repeat(14 * 1024 * 1024);
  for (let v = 0; v < 5; v++) await t.ask('insert', 'Long', { body: JSON.stringify({ v, text }) });
  expect(await value('Recommend.defaultRecommendations({maxRecommendations: 2}, {v: 3}, "Long").size()')).toBe(2);
  expect(await value('Recommend.defaultRecommendations(null, {v: 3}, "Long")')).toBe('cascade.query.too.expensive ["memory"]');
});

test('a relevance is between 0 and 1, never increases along the list, and is 1 for equal candidates', () => {
  const object = fc.record({ _id: fc.uuid(), a: fc.option(fc.integer()), b: fc.option(fc.constantFrom('x', 'y')) });
  fc.assert(
    fc.property(fc.array(object), fc.record({ a: fc.integer(), b: fc.constantFrom('x', 'y') }), (candidates, pattern) => {
      const all = { most: 1_000, excluded: new Set<string>(), maxDistance: null };
      const found = finished(
        best(finished(byLikeness(pattern, [...candidates, { _id: 'same', ...pattern }] as ObjectValue[], ['a', 'b'], () => 0)).result, all),
      ).result;
      const relevances = found.map(({ added }) => numberOf(getOwn(added, 'ars_relevance')));
      expect(relevances).toHaveLength(candidates.length + 1);
      expect(relevances.every((one, i) => one >= 0 && one <= 1 && one <= (relevances[i - 1] ?? 1))).toBe(true);
      expect(relevances[0]).toBe(1);
    }),
  );
});

test('many candidates, or many properties, are ranked in pieces, and in one order', () => {
  const names = Array.from({ length: 20 }, (_, i) => `p${i}`);
  const rows = (count: number): ObjectValue[] =>
    Array.from({ length: count }, (_, n) =>
      Object.fromEntries([['_id', `${n}`.padStart(5, '0')], ...names.map((name) => [name, (n * 7) % 1_000])]),
    );
  const pattern = Object.fromEntries(names.map((name) => [name, 0]));
  const alike = finished(byLikeness(pattern, rows(3_000), names, () => 0));
  expect(alike.pauses).toBeGreaterThan((3_000 * 20) / 256);
  const all = { most: 10_000, excluded: new Set<string>(), maxDistance: null };
  const ordered = [...alike.result].sort(
    (a, b) => a.distance - b.distance || (String(getOwn(a.candidate, '_id')) < String(getOwn(b.candidate, '_id')) ? -1 : 1),
  );
  const sorted = finished(best(alike.result, all));
  expect(sorted.pauses).toBeGreaterThan(3_000 / 256);
  expect(sorted.result).toEqual(ordered);
  expect(finished(best(alike.result, { ...all, most: 7 })).result).toEqual(ordered.slice(0, 7));
  const place = { type: 'Point', coordinates: [1, 2] };
  const near = byPlace(
    { at: place },
    rows(3_000).map((row) => ({ ...row, at: place })),
    ['at'],
    all,
    () => 5,
  );
  expect(finished(near).pauses).toBeGreaterThan(10);
});

test('what is of the type Point by name only is no place', async () => {
  await t.type('Pinned', { o: { type: 'Object' } });
  await t.ask('insert', 'Pinned', { body: '[{"o":{"type":"Point","pin":4}},{"o":{"type":"Point","pin":3}}]' });
  const found = (await value('Recommend.defaultRecommendations(null, {o: {type: "Point", pin: 3}}, "Pinned")')) as {
    o: Row;
    ars_relevance: number;
  }[];
  expect(found.map(({ o, ars_relevance }) => [o['pin'], ars_relevance])).toEqual([
    [3, 1],
    [4, 0],
  ]);
  expect(await value('Recommend.nearbyRecommendations(null, {o: {type: "Point", coordinates: [0, 0]}}, "Pinned")')).toEqual([]);
});
