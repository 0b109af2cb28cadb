// How many queries are asked of the store at a time.
import { BSON, type Db } from 'mongodb';
import { expect, test, vi } from 'vitest';
import { RowReader } from './rows.ts';

/** A store whose answers are given by the test, in the order of the queries. @param cursor other than 0: it has more rows */
function openReader(cursor = 0n): { reader: RowReader; answer: () => void; asked: () => number } {
  const open: (() => void)[] = [];
  let asked = 0;
  const answer = { cursor: BSON.serialize({ firstBatch: [{ n: 1 }], id: cursor, ns: 'a.b' }) };
  const db = {
    client: { startSession: () => ({ endSession: () => Promise.resolve() }) },
    command: () => {
      asked++;
      return new Promise((resolve) => open.push(() => resolve(answer)));
    },
  };
  return { reader: new RowReader(db as unknown as Db), answer: () => open.shift()?.(), asked: () => asked };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const MANY = 64 * 1024 * 1024;

test('twelve queries of a namespace are asked at a time, and each that ends makes room for one', async () => {
  const { reader, answer, asked } = openReader();
  const reads = Array.from({ length: 14 }, () => reader.find('t', { filter: {}, limit: 1 }).next());
  await settled();
  expect(asked()).toBe(12);
  answer();
  await reads[0];
  await settled();
  expect(asked()).toBe(13);
  for (let n = 0; n < 14; n++) {
    answer();
    await settled();
  }
  expect((await Promise.all(reads)).map((rows) => rows.length)).toEqual(Array(14).fill(1));
});

test('while what was read waits to be written no query begins, those that have begun go on, and then all that waited', async () => {
  const { reader, answer, asked } = openReader(5n);
  const begun = reader.find('t', { filter: {}, limit: 1 });
  const first = begun.next();
  answer();
  await first;
  const held = reader.hold(MANY);
  const read = reader.find('t', { filter: {}, limit: 1 }).next();
  const pattern = reader.find('t', { filter: {}, limit: 1, isSlow: true }).next();
  const more = begun.next();
  await settled();
  expect(asked()).toBe(2);
  answer();
  expect(await more).toHaveLength(1);
  held[Symbol.dispose]();
  await settled();
  expect(asked()).toBe(4);
  answer();
  answer();
  expect(await Promise.all([read, pattern])).toMatchObject([{ length: 1 }, { length: 1 }]);
});

test('a query for a client that has gone while it waited is never asked, and those behind it are', async () => {
  const { reader, answer, asked } = openReader();
  const held = reader.hold(MANY);
  let isGone = false;
  const dropped = reader.find('t', { filter: {}, limit: 1, isGone: () => isGone }).next();
  const next = reader.find('t', { filter: {}, limit: 1 }).next();
  isGone = true;
  held[Symbol.dispose]();
  await expect(dropped).rejects.toMatchObject({ code: 'cascade.server.unavailable' });
  await settled();
  expect(asked()).toBe(1);
  answer();
  expect(await next).toHaveLength(1);
});

test('the store hears of a session every ten minutes while rows that are to be kept are open', async () => {
  vi.useFakeTimers();
  try {
    const asked: string[] = [];
    const db = {
      client: { startSession: () => ({ id: { id: 'session' }, endSession: () => Promise.resolve() }) },
      command: (command: object) => {
        asked.push(Object.keys(command)[0] ?? '');
        return Promise.resolve({ cursor: BSON.serialize({ firstBatch: [{ n: 1 }], id: 5n, ns: 'a.b' }) });
      },
    };
    const reader = new RowReader(db as unknown as Db);
    const [kept, other] = [true, false].map((isKept) => reader.find('t', { filter: {}, limit: 0, isKept }));
    await kept?.next();
    await other?.next();
    await vi.advanceTimersByTimeAsync(25 * 60_000);
    expect(asked).toEqual(['find', 'find', 'refreshSessions', 'refreshSessions']);
    await kept?.close();
    await vi.advanceTimersByTimeAsync(25 * 60_000);
    expect(asked.slice(4)).toEqual(['killCursors']);
  } finally {
    vi.useRealTimers();
  }
});
