// What is done to the service while the clients work: its processes are killed, stopped and slowed, and the disk fills up.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, realpathSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StartedService } from '../../conformance/client/index.ts';

/** Longer than the service waits for its sandbox's heartbeat, and for its database before it says so. */
const LONG_STOP_MS = 6_000;
/** Longer than the lease of a process, and than another one takes to see that it is over. */
export const STOP_BEYOND_LEASE_MS = 40_000;
const SLOW_FOR_MS = 1_500;
const SLOW_STEP_MS = 15;
const DISK_FULL_FOR_MS = 4_000;
const BEFORE_RESTART_MS = 400;
const ALIVE_WITHIN_MS = 60_000;

/** The small disk that the data are on. */
const DISK_SIZE_MB = 640;
const BLOCK = Buffer.alloc(1 << 20);

export type Part = 'service' | 'database' | 'sandbox';

/** Kills count; the others come in between. */
export const KILLS: readonly (readonly Part[])[] = [['service'], ['database'], ['sandbox'], ['service', 'database'], ['service']];

/** @param onKilled told at the moment when all of them are dead */
export async function kill(
  service: StartedService,
  parts: readonly Part[],
  random: () => number,
  onKilled: () => void = () => undefined,
): Promise<void> {
  if (!parts.includes('service')) {
    for (const part of parts) signal(await pidOf(service, part, random), 'SIGKILL');
    return onKilled();
  }
  const others = await Promise.all(parts.filter((part) => part !== 'service').map((part) => pidOf(service, part, random)));
  await service.kill();
  for (const pid of others) signal(pid, 'SIGKILL');
  onKilled();
  await sleep(random() * BEFORE_RESTART_MS);
  await service.restart();
}

/** SIGSTOP, and SIGCONT after a while. */
export async function pause(service: StartedService, part: Part, random: () => number): Promise<void> {
  const pid = await pidOf(service, part, random);
  signal(pid, 'SIGSTOP');
  await sleep(random() < 0.2 ? LONG_STOP_MS : 100 + random() * 1_500);
  signal(pid, 'SIGCONT');
}

/** SIGSTOP for longer than its lease. */
export async function pauseBeyondLease(service: StartedService): Promise<void> {
  signal(service.process.pid as number, 'SIGSTOP');
  await sleep(STOP_BEYOND_LEASE_MS);
  signal(service.process.pid as number, 'SIGCONT');
}

/** It runs and stands still in turn, most of the time the latter. */
export async function slow(service: StartedService, part: Part, random: () => number): Promise<void> {
  const pid = await pidOf(service, part, random);
  for (const until = performance.now() + SLOW_FOR_MS; performance.now() < until; ) {
    signal(pid, 'SIGSTOP');
    await sleep(4 * SLOW_STEP_MS);
    signal(pid, 'SIGCONT');
    await sleep(SLOW_STEP_MS);
  }
}

/** A place for the data that can be filled to the last byte. */
export interface Disk extends Disposable {
  readonly folder: string;
  /** Filled, for a while, then freed; the service must be ready again. */
  fill(service: StartedService): Promise<void>;
}

/** A small disk in memory, where one can be mounted; else a limit on the size of files stands for it. */
export function openDisk(): Disk {
  const folder = mkdtempSync(join(tmpdir(), 'cascade-chaos-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_SIZE_MB}m`, 'cascade-chaos', folder], { stdio: 'ignore' });
  } catch {
    return { folder, fill: limitFiles, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
  }
  return {
    folder,
    async fill(service) {
      const filler = join(folder, 'filler');
      const handle = openSync(filler, 'w');
      const until = performance.now() + DISK_FULL_FOR_MS;
      try {
        fillUp(handle);
        signal(await pidOf(service, 'database'), 'SIGKILL'); // a database that lives has some room of its own left
        for (; performance.now() < until; await sleep(50)) fillUp(handle);
      } finally {
        closeSync(handle);
        rmSync(filler);
      }
      await serving(service);
    },
    [Symbol.dispose]() {
      execFileSync('umount', ['-l', folder], { stdio: 'ignore' });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function fillUp(handle: number): void {
  for (let size = BLOCK.length; size >= 4096; ) {
    try {
      if (writeSync(handle, BLOCK, 0, size) < size) size >>= 1;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      size >>= 1;
    }
  }
}

/** No process of the service may make a file longer than this; the database, also when it is started again, fails as on a full disk. */
async function limitFiles(service: StartedService): Promise<void> {
  const all = [service.process.pid as number, databaseOf(service)].filter((pid) => pid !== undefined);
  for (const pid of all) execFileSync('prlimit', ['--pid', String(pid), '--fsize=65536:'], { stdio: 'ignore' });
  signal(await pidOf(service, 'database'), 'SIGKILL');
  await sleep(DISK_FULL_FOR_MS);
  const unlimited = ['--fsize=unlimited:'];
  for (const pid of [service.process.pid as number, databaseOf(service)].filter((one) => one !== undefined))
    execFileSync('prlimit', ['--pid', String(pid), ...unlimited], { stdio: 'ignore' });
  await serving(service);
}

/** Waits until the service says that it serves. */
export async function serving(service: StartedService): Promise<void> {
  for (const until = performance.now() + ALIVE_WITHIN_MS; performance.now() < until; await sleep(50)) {
    if (await isServing(service)) return;
  }
  throw new Error('the service does not serve any more');
}

export async function isServing({ url }: StartedService): Promise<boolean> {
  const reply = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2_000) }).catch(() => null);
  return reply?.status === 200;
}

async function pidOf(service: StartedService, part: Part, random: () => number = () => 0): Promise<number> {
  for (const until = performance.now() + ALIVE_WITHIN_MS; performance.now() < until; await sleep(20)) {
    const found = part === 'service' ? service.process.pid : part === 'database' ? databaseOf(service) : sandboxOf(service, random);
    if (found !== undefined) return found;
  }
  throw new Error(`no ${part} is running`);
}

/** The mongod on our folder, whoever has started it. */
function databaseOf({ dataDir }: StartedService): number | undefined {
  const folder = `${realpathSync(dataDir)}/db`;
  return processes().find(({ args }) => args[0]?.includes('mongod') && args.includes(folder))?.pid;
}

/** One of its sandbox processes. */
function sandboxOf(service: StartedService, random: () => number): number | undefined {
  const found = processes().filter(
    ({ parent, args }) => parent === service.process.pid && args.some((arg) => arg.endsWith('/sandbox/process.js')),
  );
  return found[Math.floor(random() * found.length)]?.pid;
}

function processes(): { pid: number; parent: number; args: string[] }[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state === 'Z') return [];
      return [{ pid: Number(name), parent: Number(parent), args: readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0') }];
    } catch {
      return []; // it has ended meanwhile
    }
  });
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // it has ended by itself
  }
}
