// The protocol of docs/partitions.md keeps order and loses nothing, whatever is changed together.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Costs, type Load, simulate } from './model.ts';

const COSTS: Costs = { mainThread: 60, prepare: 25, hop: 350, primaryFixed: 250, primaryPerUnit: 30, sync: 600 };
const loads = fc.record({
  partitions: fc.integer({ min: 1, max: 8 }),
  primaryCores: fc.integer({ min: 1, max: 8 }),
  clients: fc.integer({ min: 1, max: 20 }),
  crossing: fc.integer({ min: 0, max: 100 }),
  keys: fc.integer({ min: 1, max: 5 }),
  events: fc.constant(300),
  seed: fc.integer({ min: 1 }),
});

test('every unit commits once, and each instance is changed in the order of its line', () => {
  fc.assert(
    fc.property(loads, (load) => {
      const { committed, lines } = simulate(load, COSTS);
      expect(committed.map(({ id }) => id).sort((a, b) => a - b)).toEqual(Array.from({ length: load.events }, (_, id) => id));
      for (const [key, line] of lines) expect(committed.filter(({ keys }) => keys.includes(key)).map(({ id }) => id)).toEqual(line);
    }),
    { numRuns: 200 },
  );
});

test('more partitions do more, until the primary is busy', () => {
  const load: Load = { partitions: 1, primaryCores: 1, clients: 100, crossing: 0, keys: 10_000, events: 5_000, seed: 1 };
  const [one, two, eight] = [1, 2, 8].map((partitions) => simulate({ ...load, partitions }, COSTS));
  expect(two!.perSecond).toBeGreaterThan(one!.perSecond * 1.5);
  expect(eight!.primaryBusy).toBeGreaterThan(0.9);
});
