// One mongod process on our data: the one that already lives there, or a new one.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, realpathSync, statfsSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { totalmem } from 'node:os';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { DataFolder } from './data-folder.ts';
import { commandLine, end, ended, isAlive } from './processes.ts';
import { isUp, lastErrors } from './recovery.ts';
import { asMember } from './replica-set.ts';

const GRACE_MS = 20_000;
/** mongod's exit codes (its source: src/mongo/util/exit_code.h). */
const EXIT_PORT_TAKEN = 48;
const EXIT_FILES_IN_USE = 100;

export interface Running {
  readonly pid: number;
  readonly port: number;
  /** Absent when another service has started it. */
  readonly child?: ChildProcess;
}

interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The mongod that has our files open, if there is one, started by this service or not. */
export function findLiving(folder: DataFolder): Omit<Running, 'child'> | undefined {
  const pid = Number(readLockPid(folder));
  if (!pid || !isAlive(pid)) return undefined;
  const args = commandLine(pid) ?? [];
  const isOurs = basename(args[0] ?? '').startsWith('mongod') && sameFolder(argument(args, '--dbpath'), folder.database);
  return isOurs ? { pid, port: Number(argument(args, '--port')) } : undefined;
}

/**
 * Whether it answers as a member of our set (or of none yet: its first service died early), within the time once it accepts connections. One that
 * does not accept yet is recovering, and waited for as one that was just started.
 */
export async function answers(
  { port, pid }: Omit<Running, 'child'>,
  setName: string,
  folder: DataFolder,
  withinMs: number,
  log: Logger,
): Promise<boolean> {
  if (!(await isUp(pid, folder, log, () => accepts(port)))) return false;
  for (const until = performance.now() + withinMs; performance.now() < until && isAlive(pid); await sleep(100)) {
    try {
      const hello = await asMember(port, folder.key, (admin) => admin.command({ hello: 1 }), withinMs);
      if (hello.setName === undefined || hello.setName === setName) return true;
    } catch {
      // it accepts and does not answer, or not us: asked again until the time is over
    }
  }
  return false;
}

/**
 * Starts a mongod, on `port` if it is free, else on another.
 * @returns it as soon as it accepts connections; undefined when another mongod turns out to have the files (it was started a moment ago)
 */
export async function start(
  binary: string,
  port: number | undefined,
  setName: string,
  folder: DataFolder,
  log: Logger,
): Promise<Running | undefined> {
  for (let attempt = 1; ; attempt++) {
    const chosen = port !== undefined && attempt === 1 && (await isFree(port)) ? port : await freePort();
    if (port !== undefined && chosen !== port) log.warn(`port ${port} is taken by something else; the database moves to port ${chosen}`);
    const started = await startOn(binary, chosen, setName, folder, log);
    if ('child' in started) return started;
    if (started.status === EXIT_FILES_IN_USE || findLiving(folder)) return undefined;
    if (started.status !== EXIT_PORT_TAKEN || attempt === 5) throw new Error(endOf(started, folder));
  }
}

/** How a mongod that did not come up ended, as a sentence. */
export function endOf({ status, signal }: Ended, folder: DataFolder): string {
  return `mongod ended at once (${status ?? signal}): ${lastWords(folder)}. Its log is ${folder.logFile}`;
}

/**
 * On this very port. However long a recovery takes: it is ended only when it has made no progress for `silentMs`.
 * @returns how it ended, when it did before it accepted a connection
 */
export async function startOn(
  binary: string,
  port: number,
  setName: string,
  folder: DataFolder,
  log: Logger,
  silentMs?: number,
): Promise<Required<Running> | Ended> {
  const options = {
    '--dbpath': folder.database,
    '--port': String(port),
    '--replSet': setName,
    '--bind_ip': '127.0.0.1',
    '--keyFile': folder.keyFile,
    '--networkMessageCompressors': 'snappy,zstd', // zlib's headers have a known flaw in 6.0.5
    '--wiredTigerCacheSizeGB': cacheSizeGb(totalmem()),
    // A start reads the journal's last file to its end: 0.5 s and more than half of its processor time with the 100 MB that are usual.
    '--wiredTigerEngineConfigString': 'log=(file_max=8MB)',
    '--logpath': folder.logFile,
  };
  // A process group of its own: Ctrl-C in the terminal is for the service, which then stops mongod in its turn.
  const flags = ['--noscripting', '--logappend', '--quiet', ...(process.platform === 'win32' ? [] : ['--nounixsocket'])];
  const child = spawn(binary, [...Object.entries(options).flat(), ...flags], {
    detached: true,
    stdio: 'ignore',
    cwd: folder.path,
    env: environmentOf(process.env),
  });
  const outcome = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (status, signal) => resolve({ status, signal }));
  });
  const { pid } = child;
  if (pid === undefined) return outcome; // it could not be started: that rejects
  const ready = isUp(pid, folder, log, async () => (await accepts(port)) && readLockPid(folder) === String(pid), silentMs);
  const first = await Promise.race([outcome, ready]);
  if (typeof first === 'object') return first;
  if (!first) {
    await end(pid, GRACE_MS);
    return outcome;
  }
  child.unref();
  return { child, pid, port };
}

/** What a mongod may know of its surroundings: it may outlive us, and anybody who is the same user can read it, so no secret of ours is in it. */
const PASSED_ON =
  /^(PATH|HOME|USER|LOGNAME|TZ|TZDIR|LANG|LANGUAGE|LC_.*|TMPDIR|TEMP|TMP|SYSTEMROOT|WINDIR|LD_LIBRARY_PATH|DYLD_.*|GLIBC_TUNABLES)$/i;

export const environmentOf = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => PASSED_ON.test(name)));

/** Stops it in order. What it has acknowledged is on the disk, so killing it would cost nothing but time at the next start. */
export async function stop(running: Running, folder: DataFolder): Promise<void> {
  if (!isAlive(running.pid)) return;
  if (running.child && process.platform !== 'win32')
    running.child.kill('SIGTERM'); // where there are no signals, that would end it at once
  else await asMember(running.port, folder.key, (admin) => admin.command({ shutdown: 1, force: true })).catch(() => undefined); // it hangs up instead of answering
  if (await ended(running.pid, 20_000)) return;
  process.kill(running.pid, 'SIGKILL');
  await ended(running.pid, 10_000);
}

/** A quarter of the memory, at most 1 GB: there are a service and its sandbox beside it. */
export function cacheSizeGb(memoryBytes: number): string {
  return Math.min(1, Math.max(0.25, memoryBytes / 4 / 2 ** 30)).toFixed(2);
}

function readLockPid(folder: DataFolder): string {
  try {
    return readFileSync(`${folder.database}/mongod.lock`, 'utf8').trim(); // holds the number also after kill -9; empty after an orderly end
  } catch {
    return ''; // never started
  }
}

function argument(args: readonly string[], name: string): string | undefined {
  const at = args.indexOf(name);
  return at < 0 ? undefined : args[at + 1];
}

function sameFolder(a: string | undefined, b: string): boolean {
  try {
    return a !== undefined && realpathSync(a) === realpathSync(b);
  } catch {
    return false; // it has been removed
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: 1_000 });
    const settle = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
    socket.once('timeout', () => settle(false));
  });
}

/** Below the range from which systems take ports for outgoing connections: one of those must not sit on ours when we come back. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 17_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Below this a mongod neither starts nor says why. */
const LEAST_FREE_BYTES = 16 * 1024 * 1024;

/** The errors in mongod's log, as sentences; that the disk is full, where it is, since then there may be none. */
function lastWords(folder: DataFolder): string {
  const { bavail, bsize } = statfsSync(folder.path);
  if (bavail * bsize < LEAST_FREE_BYTES) return `the disk of ${folder.path} is full; it starts once there is room`;
  return lastErrors(folder.logFile);
}
