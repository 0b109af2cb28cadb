// One instance of many values: the answers are those of short ones, and others have many turns before each.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEngine, type TestEngine } from '../../engine/testing/engine.ts';
import { countSlices } from '../../platform/structures/testing/count-slices.ts';

let t: TestEngine;
const properties = { n: { type: 'Integer' }, o: { type: 'Object' }, a: { type: 'Integer', multi: true } };
beforeAll(async () => {
  t = await openTestEngine();
  await t.type('Vast', properties);
  await t.type('Guarded', properties);
  await t.type('Seen', { n: { type: 'Integer' } });
});
afterAll(() => t[Symbol.asyncDispose]());

const COUNT = 60_000;
const numbers = Array.from({ length: COUNT }, (_, index) => index);
const objects = Object.fromEntries(numbers.slice(0, 6_000).map((index) => [`k${index}`, { a: index, b: [1.5, `t${index}`], c: null }]));
type Shown = { _id: string; n: number; o?: unknown; a?: unknown; ars_version: number };

/** Done in at least so many slices, between which others have their turn. */
async function givingWay<T>(work: () => Promise<T>): Promise<T> {
  using count = countSlices();
  const result = await work();
  expect(count.slices).toBeGreaterThan(8);
  return result;
}

const asked = async (...what: Parameters<TestEngine['ask']>): Promise<Shown> => {
  const { body } = await givingWay(() => t.ask(...what));
  const shown = JSON.parse(String(body)) as Shown | [Shown];
  return Array.isArray(shown) ? shown[0] : shown;
};

test.each([
  ['an array', { a: numbers }, { a: numbers.toReversed() }],
  ['an Object', { o: objects }, { o: { list: numbers, objects } }],
])('%s is inserted, read, updated, patched and deleted', async (_, values, others) => {
  const { _id: id, ...inserted } = await asked('insert', 'Vast', { body: JSON.stringify({ n: 1, ...values }) });
  expect(inserted).toMatchObject({ n: 1, ...values, ars_version: 1 });
  expect(await asked('select', 'Vast', { id })).toEqual({ _id: id, ...inserted });
  expect(await asked('update', 'Vast', { id, body: JSON.stringify(others) })).toMatchObject({ n: 1, ...others, ars_version: 2 });
  expect(await asked('update', 'Vast', { id, body: '{"n":2}' })).toMatchObject({ n: 2, ...others, ars_version: 3 });
  const patch = JSON.stringify([{ op: 'replace', path: '/n', value: 3 }]);
  expect(await asked('patch', 'Vast', { id, body: patch })).toMatchObject({ n: 3, ...others, ars_version: 4 });
  expect(await asked('select', 'Vast', { id })).toMatchObject({ n: 3, ...others, ars_version: 4 });
  await givingWay(() => t.ask('delete', 'Vast', { id }));
});

test('an array of instances keeps its order, with a long one first, and tells what is wrong with each', async () => {
  const body = JSON.stringify([{ n: 1, a: numbers }, { n: 2 }, { n: 3, a: [...numbers, 'x'] }, { n: 4, o: objects }]);
  const reply = await givingWay(() => t.ask('insert', 'Vast', { body }));
  const results = JSON.parse(String(reply.body)) as { status: number; body?: Shown; errors?: { params: unknown[] }[] }[];
  expect(results.map(({ status }) => status)).toEqual([200, 200, 400, 200]);
  expect(results[0]?.body).toMatchObject({ n: 1, a: numbers });
  expect(results[2]?.errors?.[0]?.params).toEqual(['Vast', 'a', 'Integer', 'format']);
  const ids = [0, 1, 3].map((place) => String(results[place]?.body?._id));
  expect(ids.toSorted()).toEqual(ids); // as they were stored
});

test('a BEFORE rule sees and changes it, another rule gets it as an event', async () => {
  await t.ask('insert', 'rules', { text: 'RULE guard BEFORE INSERT ON Guarded AS g\ng.n = g.n + 1\nreturn g' });
  await t.ask('insert', 'rules', { text: 'RULE seen WHEN INSERT OCCURS ON Guarded AS g WHERE g.n > 4\nINSERT Seen(n: g.o.k7.a)' });
  expect(await asked('insert', 'Guarded', { body: JSON.stringify({ n: 4, o: objects }) })).toMatchObject({ n: 5, o: objects });
  await expect.poll(async () => String((await t.ask('select', 'Seen')).body), { timeout: 20_000 }).toContain('"n":7');
});

test('programs read, insert and change it', async () => {
  const { _id } = await asked('insert', 'Vast', { body: JSON.stringify({ n: 50, o: objects, a: numbers }) });
  await t.ask('insert', 'procedures', {
    text: 'PROCEDURE copies(id String)\nvar v = SELECT ONE FROM Vast WHERE _id == id\nvar c = INSERT Vast(n: 51, o: v.o, a: v.a)\nUPDATE Vast(n: 52, o: {inner: v.o}) WHERE _id == id\nreturn c',
  });
  const { body } = await givingWay(() => t.ask('execute', 'procedures', { id: 'copies', body: JSON.stringify({ id: _id }) }));
  expect(JSON.parse(String(body))).toMatchObject({ n: 51, o: objects, a: numbers });
  expect(await asked('select', 'Vast', { id: _id })).toMatchObject({ n: 52, o: { inner: objects }, a: numbers });
});

test('a repeated request has the same answer, and a lost race is told', async () => {
  const body = JSON.stringify({ n: 60, o: objects });
  const [first, second] = await Promise.all([1, 2].map(() => t.ask('insert', 'Vast', { body, requestId: 'one' })));
  expect(second?.body).toBe(first?.body);
  const [{ _id: id }] = JSON.parse(String(first?.body)) as [Shown];
  const change = (n: number): Promise<unknown> => t.ask('update', 'Vast', { id, body: JSON.stringify({ n, o: objects, ars_version: 1 }) });
  const ended = await Promise.allSettled([change(61), change(62)]);
  expect(ended.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
});
