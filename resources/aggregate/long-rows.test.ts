// Long rows of aggregates are read and written in pieces: the same as at once, and others have turns in between.
import { BSON, Decimal128 } from 'mongodb';
import { expect, test } from 'vitest';
import { type InPieces, parseType } from '../../model/types/index.ts';
import { finished } from '../../model/types/testing/finished.ts';
import { countTurns } from '../../platform/structures/testing/count-turns.ts';
import { encodeInner, type Value } from '../../stdlib/values/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { ofEach } from '../scalars/index.ts';
import { aggregateRows } from './aggregate-rows.ts';
import { rowToJson, typedPart, typedPartInPieces } from './results.ts';
import { shapeOf, untyped } from './shape.ts';

const COUNT = 30_000;
const numbers = Array.from({ length: COUNT }, (_, index) => index);
const known = { types: new Map(), scalars: new Map() };
const properties = { n: { type: 'Integer' }, o: { type: 'Object' }, a: { type: 'Integer', multi: true } };
const shape = shapeOf(parseType({ name: 'Vast', properties }, known), false);
const space = { name: 'main', storage: { rows: { hold: () => ({ [Symbol.dispose]: () => undefined }) } } } as unknown as Namespace;

/** Turns of the event loop that others have; nothing in the work waits for anything else. */
async function turnsDuring(work: () => unknown): Promise<number> {
  using count = countTurns();
  await work();
  return count.turn;
}

const stored = {
  n: 1,
  o: { list: numbers, k: Object.fromEntries(numbers.slice(0, 900).map((n) => [`k${n}`, { t: `${n}` }])) },
  a: numbers,
};
const raw = BSON.serialize(stored);

test('typed members are read and written in pieces', () => {
  const [typed, reads] = finished(typedPartInPieces(shape, raw));
  expect(typed).toEqual(typedPart(shape, raw));
  const [text, pauses] = finished(rowToJson(shape, raw, { typed, computed: {} }, false));
  expect(JSON.parse(text)).toEqual(stored);
  expect(Math.min(reads, pauses)).toBeGreaterThan((2 * COUNT) / 600);
});

test('so are those that a stage has made, with Currencies and references at every depth', () => {
  const money = { c: 'EUR', v: Decimal128.fromString('1.50') };
  const reference = { resource: 'types', resourceId: 'x' };
  const vast = { c: 'X'.repeat(100_000), v: Decimal128.fromString('2') };
  const made = { list: numbers.map((n) => (n % 3 === 0 ? money : n % 3 === 1 ? reference : n)), deep: { vast, all: { numbers, money } } };
  const [text, pauses] = finished(rowToJson(untyped(shape), BSON.serialize(made), { typed: {}, computed: {} }, false));
  expect(JSON.parse(text)).toEqual({
    list: numbers.map((n) => (n % 3 === 0 ? 'EUR:1.50' : n % 3 === 1 ? '/types/x' : n)),
    deep: { vast: `${vast.c}:2`, all: { numbers, money: 'EUR:1.50' } },
  });
  expect(pauses).toBeGreaterThan((2 * COUNT) / 600);
});

test('a row of many members gives way, too', () => {
  const row = Object.fromEntries(numbers.map((n) => [`k${n}`, n]));
  const [text, pauses] = finished(rowToJson(untyped(shape), BSON.serialize(row), { typed: {}, computed: {} }, false));
  expect(JSON.parse(text)).toEqual(row);
  expect(pauses).toBeGreaterThan(COUNT / 100);
});

test('others have turns while the rows of a result are made, none where they are short', async () => {
  const text = (row: Uint8Array): InPieces<string> => rowToJson(untyped(shape), row, { typed: {}, computed: {} }, false);
  const written = (rows: Uint8Array[]) => ofEach(space, rows, (row) => finished(text(row))[0], text);
  expect(await turnsDuring(() => written([raw, raw, raw]))).toBeGreaterThan(4);
  expect(written([BSON.serialize({ n: 1 })])).toEqual(['{"n":1}']);
});

test('others have turns while a program aggregates such rows', async () => {
  const row = encodeInner({ n: 7, o: { list: numbers as Value } });
  const pages = async function* () {
    yield { rows: [row, row, row], isLast: true };
  };
  let result: unknown;
  const turns = await turnsDuring(async () => {
    result = await aggregateRows(space, 'Vast', pages(), [['s', ['sum', 'n']]], [], { add: () => undefined });
  });
  expect(result).toEqual([{ s: 21 }]);
  expect(turns).toBeGreaterThan(4);
});
