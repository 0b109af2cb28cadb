// The same contestants at one steady rate: requests come at their times, whatever has become of those before, and a latency counts from the
// time at which its request was to be sent. So a stall is felt by all that would have come meanwhile, and latencies are those of one load.
import { LogHistogram } from '../platform/structures/index.ts';
import { openLoop } from '../server/cli/bench/index.ts';
import type { Comparison, Contestant, Effort } from './compare.ts';
import { type Figure, median, progress } from './report/index.ts';

/** Part of the rate that the slowest contestant has reached with its answers awaited: nobody is measured beyond what it can do. */
const PART = 0.5;

/** @param reached what `compare` has found of the same contestants, who speak HTTP */
export async function steadily(
  { name, connections }: Comparison,
  contestants: readonly Contestant[],
  { rounds: count, seconds }: Effort,
  reached: Figure,
): Promise<Figure> {
  const rate = Math.ceil(PART * Math.min(...Object.values(reached.rounds).map(median)));
  const whole = new Map(contestants.map((one) => [one.name, new LogHistogram()]));
  const rounds: Record<string, number[]> = {};
  let refusals = 0;
  for (let round = 0; round <= count; round++)
    for (const one of contestants) {
      progress(`${name}, steady: ${one.name}, ${round === 0 ? 'warming' : `round ${round} of ${count}`}`);
      const { latencies, refused } = await openLoop({
        url: one.url,
        request: (n) => one.protocol.frame(one.request(n)),
        rate,
        seconds: round === 0 ? seconds / 4 : seconds,
        connections,
      });
      await one.settle?.();
      if (round === 0) continue;
      refusals += Object.values(refused).reduce((sum, n) => sum + n, 0);
      whole.get(one.name)?.merge(latencies);
      (rounds[one.name] ??= []).push(latencies.quantile(0.99));
    }
  if (refusals > 0) throw new Error(`${name}: ${refusals} requests at ${rate} a second were refused, lost or not sent`);
  const besides = [...whole].map(([contestant, all]) => [
    contestant,
    { 'requests a second': rate, 'p50 ms': all.quantile(0.5), 'p99.9 ms': all.quantile(0.999), 'most ms': all.maxMs },
  ]);
  return {
    name: `${name}, at half the rate of the slowest (open loop)`,
    unit: 'ms, p99 from the intended time',
    rounds,
    besides: Object.fromEntries(besides),
    latencies: Object.fromEntries([...whole].map(([contestant, all]) => [contestant, all.toJSON()])),
  };
}
