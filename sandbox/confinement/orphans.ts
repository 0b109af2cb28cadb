// Bubblewrap starts its inner process before that one has tied itself to the life of the outer one: where the outer one is killed in this moment (with
// the service, say), the inner one waits for its word for ever, and holds its pipes. Whoever opens a sandbox ends those that are left.
import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';

const PROGRAM = 'bwrap';
/** Processes that are looked at before others have their turn; the kernel answers for one in some 20 us. */
const AT_ONCE = 32;

/**
 * Ends inner processes of bubblewrap that have no outer one any more. Nothing happens where /proc cannot be read, or to processes of others.
 * @param file stands in the command line of those that are meant
 * @returns how many were ended
 */
export async function endOrphans(file: string): Promise<number> {
  let ended = 0;
  for (const [index, pid] of processes().entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await turn();
    if (isOrphan(pid, file) && end(Number(pid))) ended++;
  }
  return ended;
}

function processes(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** Whether it is the first process in a namespace of its own, and its parent is no bubblewrap: that has been there while it lived. */
function isOrphan(pid: string, file: string): boolean {
  if (nameOf(pid) !== PROGRAM || !read(pid, 'cmdline').split('\0').includes(file)) return false;
  const status = read(pid, 'status');
  const [, parent] = /^PPid:\s+(\d+)$/m.exec(status) ?? [];
  return parent !== undefined && /^NSpid:\s+\d+.*\s1$/m.test(status) && nameOf(parent) !== PROGRAM;
}

const nameOf = (pid: string): string => read(pid, 'comm').trim();

function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8'); // of what is in memory: no disk is waited for
  } catch {
    return '';
  }
}

function end(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false; // it has ended, or is another user's
  }
}
