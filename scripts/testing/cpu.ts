// What a process and those it has started have used of the processor: unlike a time of the wall it does not depend on what else runs, so
// it tells where the time of the tests goes. Linux alone tells of child processes; elsewhere it is the process's own.
import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds of a tick of /proc: USER_HZ is 100 on every Linux. */
const TICK_MS = 10;

/** Of this process, of its descendants that live, and of those that have ended and were waited for. */
export function usedCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return Math.round((user + system) / 1_000) + usedByDescendants(process.pid);
}

function usedByDescendants(root: number): number {
  const processes = readProcesses();
  const under = (pid: number): number =>
    [...processes].filter(([, { parent }]) => parent === pid).reduce((sum, [child, { own }]) => sum + own + under(child), 0) +
    (processes.get(pid)?.waitedFor ?? 0);
  return under(root);
}

function readProcesses(): Map<number, { parent: number; own: number; waitedFor: number }> {
  const found = new Map<number, { parent: number; own: number; waitedFor: number }>();
  for (const name of readNames()) {
    const stat = readStat(name);
    if (stat === null) continue;
    // Behind the name in brackets, which may hold blanks: state, parent, … utime, stime, cutime, cstime (fields 14 to 17 of proc(5)).
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    found.set(Number(name), {
      parent: fields[1]!,
      own: (fields[11]! + fields[12]!) * TICK_MS,
      waitedFor: (fields[13]! + fields[14]!) * TICK_MS,
    });
  }
  return found;
}

function readNames(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** Null: it has ended meanwhile. */
function readStat(pid: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
}
