// Which queries share a request, and that each asker gets his own rows.
import { setTimeout as sleep } from 'node:timers/promises';
import { BSON, ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { EqualityReads } from './equality-reads.ts';
import type { Find, RowReader, Rows } from './rows.ts';

interface Row {
  site: string;
  n: number;
}

/** A store with these rows, the last one first. */
function store(rows: Row[]) {
  const finds: string[][] = [];
  let isBroken = false;
  const documents = rows.map((row, at) => {
    const _id = ObjectId.createFromHexString(at.toString(16).padStart(24, '0'));
    return { site: row.site, bytes: BSON.serialize({ _id, other: row.site, n: row.n, site: row.site }) };
  });
  const find = (_collection: string, { filter, limit }: Find): Rows => {
    const texts = (filter['site'] as { $in: string[] }).$in;
    finds.push(texts);
    const left = documents
      .filter(({ site }) => texts.includes(site))
      .reverse()
      .slice(0, limit);
    return {
      async next() {
        await sleep(5);
        if (isBroken) throw new Error('the store is gone');
        return left.splice(0, 500).map(({ bytes }) => bytes);
      },
      get isDone() {
        return left.length === 0;
      },
      close: async () => undefined,
    };
  };
  return { equals: new EqualityReads({ find } as unknown as RowReader), finds, break: () => (isBroken = true) };
}
const numbers = (rows: Uint8Array[] | null): number[] | undefined => rows?.map((row) => Number(BSON.deserialize(row)['n']));
const rows = (sites: number, each: number): Row[] => Array.from({ length: sites * each }, (_, n) => ({ site: `s${n % sites}`, n }));

test('queries of one turn are one request, and each gets its rows in the order of their ids', async () => {
  const { equals, finds } = store(rows(3, 2));
  const asked = ['s0', 's2', 's0', 'none'].map((site) => equals.read('t', 'site', site));
  expect((await Promise.all(asked)).map(numbers)).toEqual([[0, 3], [2, 5], [0, 3], []]);
  expect(finds).toEqual([['s0', 's2', 'none']]);
});

test('who asks alone asks for himself', async () => {
  const { equals, finds } = store(rows(3, 2));
  expect(await equals.read('t', 'site', 's0')).toBeNull();
  expect(finds).toEqual([]);
});

test('several who ask for the same text share a request', async () => {
  const { equals, finds } = store(rows(3, 2));
  const asked = ['s1', 's1', 's1'].map((site) => equals.read('t', 'site', site));
  expect((await Promise.all(asked)).map(numbers)).toEqual([
    [1, 4],
    [1, 4],
    [1, 4],
  ]);
  expect(finds).toEqual([['s1']]);
});

test('more than fits one request are several, as large as their rows allow', async () => {
  const { equals, finds } = store(rows(200, 50));
  const ask = () => Promise.all(Array.from({ length: 200 }, (_, n) => equals.read('t', 'site', `s${n}`)));
  for (const found of await ask()) expect(found).toHaveLength(50);
  finds.length = 0;
  for (const found of await ask()) expect(found).toHaveLength(50);
  expect(Math.max(...finds.map(({ length }) => length))).toBeLessThanOrEqual(40);
  expect(finds.length).toBeLessThanOrEqual(6);
});

test('what is too much to be shared is left to those who ask, and left alone for a while', async () => {
  const { equals, finds } = store(rows(2, 5_000));
  const ask = () => Promise.all([equals.read('t', 'site', 's0'), equals.read('t', 'site', 's1')]);
  expect(await ask()).toEqual([null, null]);
  expect(finds).toHaveLength(1);
  expect(await ask()).toEqual([null, null]);
  expect(finds).toHaveLength(1);
});

test('a failure is left to those who ask again', async () => {
  const { equals, ...it } = store(rows(2, 2));
  it.break();
  expect(await Promise.all([equals.read('t', 'site', 's0'), equals.read('t', 'site', 's1')])).toEqual([null, null]);
});
