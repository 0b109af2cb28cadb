// A tick in the simulated store: what no single unit is seen to be at fault for must come to an end all the same.
import { Long, ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { SimulatedStore, SimulatedTime, World } from '../../engine/testing/simulation/index.ts';
import { Journal } from './journal.ts';
import { TickWriter } from './tick-writer.ts';
import type { TickRow, Unit, Write } from './types.ts';

test('a unit that misses, though all it names is as it says, fails alone and in the end', async () => {
  const world = new World(1);
  const store = new SimulatedStore(world, {});
  const life = { alive: true };
  const { client, db } = store.connect(life);
  const target = new ObjectId();
  const add = (tag: string, _id = new ObjectId()): Unit => ({
    writes: [{ collection: 't.Thing', op: 'insert', document: { _id, ars_version: Long.ONE, tag } }],
    events: [],
    done: ['a/r/1'],
  });
  const removal: Write = { collection: 't.Thing', op: 'delete', id: target, version: 1n };
  const faulty: Unit = { writes: [removal, removal], events: [] };
  const settled: Unit[] = [];
  using time = new SimulatedTime();
  time.reset(1);
  const journal = new Journal(db, 1, 1);
  const settle = (row: TickRow | null, units: readonly Unit[]): void => {
    if (row) journal.committed(row);
    settled.push(...units);
  };
  const writer = new TickWriter(
    0,
    journal,
    { client, db, findTaken: async () => new Map() },
    { settled: settle, unnoted: () => undefined, away: () => undefined },
  );
  const failed = new Map<Unit, unknown>();
  const write = async (units: readonly Unit[]): Promise<void> => {
    let isOver = false;
    const written = writer.write(units, [], failed).finally(() => (isOver = true));
    written.catch(() => undefined); // awaited below
    for (let step = 0; !isOver; step++) {
      if (step > 50_000) throw new Error('the tick does not end');
      if (!world.advance()) time.pass(20);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await written;
  };
  await write([add('target', target)]);
  const others = ['a', 'b', 'c', 'd'].map((tag) => add(tag));
  await write([...others.slice(0, 2), faulty, ...others.slice(2)]);
  expect([...failed.keys()]).toEqual([faulty]);
  expect(settled.slice(1)).toEqual(others);
  expect(store.rows('t.Thing').map(({ tag }) => tag)).toEqual(['target', 'a', 'b', 'c', 'd']);
});
