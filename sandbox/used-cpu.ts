// What a process has used of the processor: unlike time that passes it does not depend on what else the machine does.
import { readFileSync } from 'node:fs';

/** Milliseconds of a tick of /proc: USER_HZ is 100 on every Linux. */
const TICK_MS = 10;

/** Of all its threads, to a hundredth of a second; null where the system does not tell (Linux does), or when there is no such process. */
export function usedCpuMs(pid: number): number | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return null;
  }
  // Behind the name in brackets, which may hold blanks: state, parent, … utime, stime (fields 14 and 15 of proc(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isFinite(ticks) ? ticks * TICK_MS : null;
}
