// Whose the CPU time of a step is. The engine measures the step as a whole; it is divided by the fuel that each run has used in it,
// with something for those of which no fuel is told (a run tells it when it gives way or ends).
import type { RunId } from '../stdlib/isolate/index.ts';
import type { FuelGauge } from './fuel.ts';
import type { LaneRun } from './isolate-state.ts';
import type { OutItem } from './outbox.ts';

/** What being in a batch counts, in fuel. */
const LEAST_FUEL = 200;
/** What giving way costs all others: the way to the service and back. Else a run could keep us busy by tiny slices. */
const SLICE_COST_MS = 0.1;

export function chargeCpu(cpuMs: number, outbox: OutItem[], runOf: (id: RunId) => LaneRun | undefined, gauge: FuelGauge): void {
  const shares: { run: LaneRun; used: number; gaveWay: boolean }[] = [];
  let sum = 0;
  for (const out of outbox) {
    if (out[0] === 'log') continue;
    if (out[0] === 'ended') {
      // They need no account any more.
      sum += out[2];
      for (let i = 1; i < out[1].length; i += 2) sum += (out[1][i] as number) * LEAST_FUEL;
      continue;
    }
    const run = runOf(out[1]);
    if (!run) continue;
    const used = Math.max(0, fuelOf(out) - run.fuel) + LEAST_FUEL;
    shares.push({ run, used, gaveWay: out[0] === 'slice' });
    sum += used;
  }
  for (const { run, used, gaveWay } of shares) {
    const ms = (cpuMs * used) / sum;
    run.cpuMs += gaveWay ? ms + SLICE_COST_MS : ms;
    // Only where it is certain whose time it was.
    if (gaveWay && used > sum / 2) gauge.learn(run, used, ms);
  }
}

function fuelOf(out: OutItem): number {
  if (out[0] === 'slice') return out[2];
  return out[0] === 'done' || out[0] === 'fail' ? out[3] : 0;
}
