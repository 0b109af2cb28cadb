import { readFileSync } from 'node:fs';

export const LOOK_EVERY_MS = 5_000;
/** Of a process (Linux). */
export const residentMb = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024);

/** How much more the service may hold in the second half of a load than in the first. */
const GROWTH = 1.15;

/** The most that was held in each half of the load; of one that fills what may wait, give what was held from then on. */
export function growth(megabytes: readonly number[]): { readonly first: number; readonly last: number; readonly wrong: string[] } {
  const half = Math.ceil(megabytes.length / 2);
  const [first, last] = [Math.max(0, ...megabytes.slice(0, half)), Math.max(0, ...megabytes.slice(half))];
  return { first, last, wrong: last > first * GROWTH ? [`memory went from ${first} to ${last} MB`] : [] };
}
