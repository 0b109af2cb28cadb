// Which reads by id share a request, and that each asker gets what is his.
import { setTimeout as sleep } from 'node:timers/promises';
import { BSON, ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { PointReads } from './point-reads.ts';
import type { Find, RowReader, Rows } from './rows.ts';

const id = (n: number): string => n.toString(16).padStart(24, '0');
const document = (hex: string): Uint8Array => BSON.serialize({ _id: ObjectId.createFromHexString(hex), text: `of ${hex}` });

/** A store that has the ids below 1,000, two rows a batch, each find answered when the test says so. */
function store() {
  const finds: { ids: string[]; projection: unknown; go: () => void; fail: (error: Error) => void }[] = [];
  let closed = 0;
  const find = (_collection: string, { filter, projection }: Find): Rows => {
    const wanted = (filter['_id'] as { $in?: ObjectId[] }).$in ?? [filter['_id'] as ObjectId];
    const ids = wanted.map((one) => one.toHexString());
    let go = (): void => undefined;
    let fail = (_: Error): void => undefined;
    const gate = new Promise<void>((resolve, reject) => {
      go = resolve;
      fail = reject;
    });
    finds.push({ ids, projection, go: () => go(), fail: (error) => fail(error) });
    const left = ids.filter((hex) => Number.parseInt(hex, 16) < 1_000).map(document);
    let isDone = false;
    return {
      async next() {
        await gate;
        const batch = left.splice(0, 2);
        isDone = left.length === 0;
        return batch;
      },
      get isDone() {
        return isDone;
      },
      close: async () => void closed++,
    };
  };
  return { points: new PointReads({ find } as unknown as RowReader), finds, closed: () => closed };
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 12_000 && !holds(); tries++) await sleep(5);
  expect(holds()).toBe(true);
}
const textOf = (row: Uint8Array | null): unknown => row && BSON.deserialize(row)['text'];

test('reads of one turn are one request, and each is answered by its own document', async () => {
  const { points, finds, closed } = store();
  const asked = [3, 1, 2_000, 3, 2].map((n) => points.read('t', id(n)));
  await until(() => finds.length === 1);
  expect(finds[0]?.ids).toEqual([3, 1, 2_000, 2].map(id));
  finds[0]?.go();
  expect((await Promise.all(asked)).map(textOf)).toEqual([`of ${id(3)}`, `of ${id(1)}`, null, `of ${id(3)}`, `of ${id(2)}`]);
  expect([finds.length, closed()]).toEqual([1, 1]);
});

test('what comes while two are under way shares the next', async () => {
  const { points, finds } = store();
  const first = points.read('t', id(1));
  await until(() => finds.length === 1);
  const second = points.read('t', id(2));
  await until(() => finds.length === 2);
  const later = [points.read('t', id(3))];
  await sleep(20);
  later.push(points.read('t', id(4)), points.read('t', id(1)));
  await sleep(20);
  expect(finds).toHaveLength(2);
  finds[0]?.go();
  await first;
  await until(() => finds.length === 3);
  expect(finds[2]?.ids).toEqual([3, 4, 1].map(id)); // the first one once more: it may have changed since
  finds[1]?.go();
  finds[2]?.go();
  await Promise.all([second, ...later]);
});

test('collections and projections stay apart', async () => {
  const { points, finds } = store();
  const asked = [points.read('t', id(1)), points.read('u', id(1)), points.read('t', id(1), { text: 1 })];
  await until(() => finds.length === 3);
  for (const { go } of finds) go();
  await Promise.all(asked);
  expect(finds.map(({ projection }) => projection)).toEqual([undefined, undefined, { text: 1 }]);
});

test('a failure is told to all who shared it, and to nobody else', async () => {
  const { points, finds } = store();
  const asked = [points.read('t', id(1)), points.read('t', id(2))];
  await until(() => finds.length === 1);
  finds[0]?.fail(new Error('the store is gone'));
  for (const one of await Promise.allSettled(asked))
    expect(one).toMatchObject({ status: 'rejected', reason: { message: 'the store is gone' } });
  const again = points.read('t', id(1));
  await until(() => finds.length === 2);
  finds[1]?.go();
  expect(textOf(await again)).toBe(`of ${id(1)}`);
});
