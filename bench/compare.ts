// Contestants under the same load, in turn, round after round: what each answers a second, how late, and what that costs in CPU time.

import { load, type Protocol } from './load.ts';
import { cpuSeconds } from './processes.ts';
import { type Figure, median, progress } from './report/index.ts';

/** How long a comparison goes on. */
export interface Effort {
  readonly rounds: number;
  /** Of one contestant in one round. */
  readonly seconds: number;
}

export interface Contestant {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  readonly protocol: Protocol;
  /** The n-th request. */
  readonly request: (n: number) => string;
  /** How many things one request is about; 1 when absent. */
  readonly each?: number;
  /** Waits until what the requests set going is done: a round ends then. */
  readonly settle?: () => Promise<void>;
}

export interface Comparison {
  readonly name: string;
  readonly unit: string;
  readonly connections: number;
  readonly mongodPid: number;
  /** The figures that differ in their connections only. */
  readonly series?: string;
}

/** The first round of each warms and is not counted. */
export async function compare(
  { name, unit, connections, mongodPid, series }: Comparison,
  contestants: readonly Contestant[],
  { rounds: count, seconds }: Effort,
): Promise<Figure> {
  const rounds: Record<string, number[]> = {};
  const noted: Record<string, { p50: number[]; p99: number[]; cpu: number[]; mongod: number[] }> = {};
  for (let round = 0; round <= count; round++)
    for (const one of contestants) {
      progress(`${name}: ${one.name}, ${round === 0 ? 'warming' : `round ${round} of ${count}`}`);
      const before = { own: 0, store: 0, at: 0 };
      const onOpen = async (): Promise<void> => {
        before.own = await cpuSeconds(one.pid);
        before.store = await cpuSeconds(mongodPid);
        before.at = performance.now();
      };
      const { url, protocol, request, each = 1 } = one;
      const result = await load({ url, protocol, connections, seconds: round === 0 ? seconds / 4 : seconds, request, onOpen });
      await one.settle?.();
      if (round === 0) continue;
      const done = result.requests * each;
      (rounds[one.name] ??= []).push(done / ((performance.now() - before.at) / 1_000));
      const notes = (noted[one.name] ??= { p50: [], p99: [], cpu: [], mongod: [] });
      notes.p50.push(result.p50);
      notes.p99.push(result.p99);
      notes.cpu.push(((await cpuSeconds(one.pid)) - before.own) * (1_000 / done));
      notes.mongod.push(((await cpuSeconds(mongodPid)) - before.store) * (1_000 / done));
    }
  const besides = Object.fromEntries(
    Object.entries(noted).map(([contestant, { p50, p99, cpu, mongod }]) => [
      contestant,
      { 'p50 ms': median(p50), 'p99 ms': median(p99), 'CPU s per 1,000': median(cpu), 'mongod CPU s per 1,000': median(mongod) },
    ]),
  );
  return { name, unit, rounds, besides, ...(series !== undefined && { at: { series, axis: 'connections', x: connections } }) };
}
