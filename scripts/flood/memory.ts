import { readFileSync } from 'node:fs';

export const LOOK_EVERY_MS = 5_000;
/** What the service may hold at the end of the load, beside what it held when it first had all it could take. */
export const GROWTH = 1.25;

/** Of a process (Linux). */
export const residentMb = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024);
