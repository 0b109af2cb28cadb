// `npm run bench -- partitions`: what one namespace would do in several partitions, by the model. Nothing of it is measured but its costs.
import type { Figure } from '../report/index.ts';
import { type Costs, simulate } from './model.ts';

/**
 * The service's main thread and the primary as `bench durable` with 256 connections shows them (0.09 s and 0.035 s of processor for 1,000 events, two thirds of
 * the former on the main thread), a hop as `bench cluster` does.
 */
const COSTS: Costs = { mainThread: 60, prepare: 25, hop: 350, primaryFixed: 250, primaryPerUnit: 30, sync: 600 };
const PARTITIONS = [1, 2, 4, 8];

export async function* partitionsBench(): AsyncIterable<Figure> {
  for (const primaryCores of [2, 8])
    for (const crossing of [0, 10, 50]) {
      const results = PARTITIONS.map((partitions) => ({
        name: `${partitions} ${partitions === 1 ? 'partition' : 'partitions'}`,
        ...simulate({ partitions, primaryCores, crossing, clients: 256, keys: 10_000, events: 100_000, seed: 1 }, COSTS),
      }));
      yield {
        name: `One namespace in partitions (a model), ${crossing} % of the units across, primary with ${primaryCores} cores`,
        unit: 'events/s',
        rounds: Object.fromEntries(results.toReversed().map(({ name, perSecond }) => [name, [perSecond]])),
        besides: Object.fromEntries(
          results.map(({ name, median, primaryBusy }) => [name, { 'p50 ms': median / 1_000, 'primary busy %': primaryBusy * 100 }]),
        ),
      };
    }
}
