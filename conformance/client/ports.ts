// Ports for services of our own that keep theirs over a restart. They lie below those that the system gives to outgoing connections, so that
// none of these takes one meanwhile; a file a port keeps two test processes from the same one.
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Below the system's own range, which begins at 32,768 by default, as /proc/sys/net/ipv4/ip_local_port_range says. */
const RANGE = 8_000;
const DEFAULT_FIRST_OF_SYSTEM = 32_768;
/** A lock of a process that has ended is removed when it is this old, by when nobody else is just looking at it. */
const STALE_MS = 60_000;

export interface Port extends Disposable {
  readonly number: number;
}

/** @throws Error when none of some thousands is free */
export async function takePort(): Promise<Port> {
  const folder = join(tmpdir(), 'cascade-ports');
  mkdirSync(folder, { recursive: true });
  const end = firstOfSystem();
  const start = Math.floor(Math.random() * RANGE);
  for (let step = 0; step < RANGE; step++) {
    const number = end - RANGE + ((start + step) % RANGE);
    const file = join(folder, String(number));
    if (!lock(file)) continue;
    if (await isFree(number)) return { number, [Symbol.dispose]: () => rmSync(file, { force: true }) };
    rmSync(file, { force: true });
  }
  throw new Error(`none of the ports from ${end - RANGE} on is free`);
}

function firstOfSystem(): number {
  try {
    return Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s/)[0]) || DEFAULT_FIRST_OF_SYSTEM;
  } catch {
    return DEFAULT_FIRST_OF_SYSTEM; // not Linux
  }
}

function lock(file: string): boolean {
  try {
    const descriptor = openSync(file, 'wx');
    writeSync(descriptor, String(process.pid));
    closeSync(descriptor);
    return true;
  } catch {
    removeStale(file);
    return false;
  }
}

function removeStale(file: string): void {
  try {
    if (Date.now() - statSync(file).mtimeMs < STALE_MS) return;
    process.kill(Number(readFileSync(file, 'utf8')), 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') rmSync(file, { force: true });
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
