// Bubblewrap starts its inner process before that one has tied itself to the life of the outer one: where the outer one is killed in this moment (with
// the service, say), the inner one waits for its word for ever, and holds its pipes. Whoever opens a sandbox ends those that are left.
import { readdir, readFile } from 'node:fs/promises';

const PROGRAM = 'bwrap';
/** Files of /proc read at a time. */
const AT_ONCE = 16;

/**
 * Ends inner processes of bubblewrap that have no outer one any more. Nothing happens where /proc cannot be read, or to processes of others.
 * @param file stands in the command line of those that are meant
 * @returns how many were ended
 */
export async function endOrphans(file: string): Promise<number> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  let ended = 0;
  const worker = async (): Promise<void> => {
    for (let pid = pids.pop(); pid !== undefined; pid = pids.pop()) if ((await isOrphan(pid, file)) && end(Number(pid))) ended++;
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return ended;
}

/** Whether it is the first process in a namespace of its own, and its parent is no bubblewrap: that has been there while it lived. */
async function isOrphan(pid: string, file: string): Promise<boolean> {
  if ((await nameOf(pid)) !== PROGRAM) return false;
  if (!(await read(pid, 'cmdline')).split('\0').includes(file)) return false;
  const status = await read(pid, 'status');
  const [, parent] = /^PPid:\s+(\d+)$/m.exec(status) ?? [];
  return parent !== undefined && /^NSpid:\s+\d+.*\s1$/m.test(status) && (await nameOf(parent)) !== PROGRAM;
}

const nameOf = async (pid: string): Promise<string> => (await read(pid, 'comm')).trim();
const read = (pid: string, file: string): Promise<string> => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');

function end(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false; // it has ended, or is another user's
  }
}
