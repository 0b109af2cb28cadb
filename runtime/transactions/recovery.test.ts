// What is read of dead processes, in a simulated store: which rows count does not depend on who took over from whom.
import { expect, test } from 'vitest';
import { SimulatedStore, World } from '../../engine/testing/simulation/index.ts';
import { readUnfinished } from './recovery.ts';
import { storedRow } from './row-form.ts';
import type { StoredEvent } from './types.ts';

const event: StoredEvent = {
  uuid: 'e1',
  path: '/types/T/insert',
  value: '{}',
  at: new Date(5),
  by: 'ann',
  chain: { root: 'e1', depth: 0 },
  runs: [{ rule: 'r', program: 'p', binds: 'value' }],
};

/** The rows of a process that holds the event, in its first slot. @param low below it its rows are void */
const rowsOf = (epoch: number, low: number) => [
  storedRow({ _id: { epoch, slot: 0, seq: 0 }, order: 1, events: [event], steps: [], done: [] }),
  { ...storedRow({ _id: { epoch, slot: 0, seq: 1 }, order: 2, events: [], steps: [], done: [] }), closed: true, low },
];

async function leftOpen(...rows: readonly object[]): Promise<string[]> {
  const world = new World(1);
  const { db } = new SimulatedStore(world, {}).connect({ alive: true });
  const work = db
    .collection('journal')
    .insertMany([...rows])
    .then(() => readUnfinished(db, [1, 2]));
  let isOver = false;
  work.then(
    () => (isOver = true),
    () => (isOver = true),
  );
  while (!isOver) {
    world.advance();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return (await work).events.map(({ uuid }) => uuid);
}

const VOID = Number.MAX_SAFE_INTEGER;

test.each([
  ['a younger process has taken over from an older one', VOID, 0],
  ['an older process has taken over from a younger one', 0, VOID],
  ['the rows of the dead are not void yet', 0, 0],
])('%s: what it copied before it died is found, once', async (_, lowOfFirst, lowOfSecond) => {
  expect(await leftOpen(...rowsOf(1, lowOfFirst), ...rowsOf(2, lowOfSecond))).toEqual(['e1']);
});

test('what is void wherever it stands is gone', async () => {
  expect(await leftOpen(...rowsOf(1, VOID), ...rowsOf(2, VOID))).toEqual([]);
});
