// What the operating system knows about a process: whether it lives, since when, what it runs; and its end, waited for or made.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const hasProc = process.platform === 'linux';

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // it lives, under another user
  }
  return !hasProc || stat(pid)?.state !== 'Z' || hasOtherThreads(pid); // ended, and not yet fetched by its parent: dead for us
}

/** The first thread may have ended while others still hold files and ports. */
function hasOtherThreads(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).length > 1;
  } catch {
    return false; // gone in between
  }
}

/** The arguments a process was started with, the program first; undefined when there is none (or none to see). */
export function commandLine(pid: number): string[] | undefined {
  try {
    if (hasProc) return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
    return execFileSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' })
      .trim()
      .split(' ');
  } catch {
    return undefined; // no such process
  }
}

/**
 * A text that another process of the same number can't have: the number, when it began, and under which start of the machine.
 * Where the system does not tell, just the number.
 */
export function fingerprint(pid: number): string {
  const started = hasProc ? stat(pid)?.started : undefined;
  return started === undefined ? `${pid}` : `${pid} ${started} ${machine()}`;
}

/** Waits until a process has ended. @returns whether it has, within the time */
export async function ended(pid: number, withinMs: number): Promise<boolean> {
  for (const until = performance.now() + withinMs; isAlive(pid); await sleep(20)) if (performance.now() > until) return false;
  return true;
}

/** Ends a process: asked first, then made. Waits for the end. */
export async function end(pid: number, graceMs: number): Promise<void> {
  signal(pid, 'SIGTERM');
  if (await ended(pid, graceMs)) return;
  signal(pid, 'SIGKILL');
  if (!(await ended(pid, 10_000))) throw new Error(`process ${pid} does not end, not even by SIGKILL`);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // it has ended in between: just what we want
  }
}

function stat(pid: number): { state: string; started: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' '); // the name in brackets may hold anything
    return { state: fields[0] ?? '', started: fields[19] ?? '' };
  } catch {
    return undefined; // no such process
  }
}

/** This start of this machine, and the space in which process numbers mean something (a container has its own). */
function machine(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return ''; // not told: the number and its start must do
  }
}
