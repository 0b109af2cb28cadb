// A service of our own for a while: `cascade serve` as a child process on a free port, with a data folder that goes with it. Whoever has
// started it learns of an end that is not as it should be: a crash, an exit code, a stop that takes too long, an error in its log.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { takePort } from './ports.ts';

const READY_WITHIN_MS = 120_000;
const STOP_WITHIN_MS = 30_000;
const LAST_WORDS_MS = 500;

/** Closing it throws when the service had ended by itself, does not stop in order and in time, or has logged an error that is not expected. */
export interface StartedService extends AsyncDisposable {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly dataDir: string;
  readonly process: ChildProcess;
  /** Kills it without a warning and waits for its end; the data stays. */
  kill(): Promise<void>;
  /** Starts it once more on the same data and port. */
  restart(): Promise<void>;
}

export interface StartOptions {
  /** Where its words go: nowhere by default; a test that fails shows the last of them. */
  onOutput?: (text: string) => void;
  /** Further arguments for `cascade serve`. */
  args?: readonly string[];
  /** Where its data folder is made; the system's temporary folder by default. */
  folder?: string;
  /** Another build of the command `cascade` than the one here. */
  program?: string;
  env?: NodeJS.ProcessEnv;
  /** Messages of its log, from the level error on, that the test provokes; 'any' when it breaks the service's parts at random. */
  expects?: readonly RegExp[] | 'any';
}

/** pino's levels from which on a line of the log is an error. */
const ERROR_LEVEL = 50;

/** Throws, with what the service said, when it does not become ready. */
// oxlint-disable-next-line max-lines-per-function -- the life of a process from its start to its end
export async function startService({
  onOutput,
  args = [],
  env = {},
  folder = tmpdir(),
  program = join(repository(), 'bin', 'cascade.js'),
  expects = [],
}: StartOptions = {}): Promise<StartedService> {
  const dataDir = await mkdtemp(join(folder, 'cascade-run-'));
  const port = await takePort();
  const url = `http://127.0.0.1:${port.number}`;
  const user = 'admin';
  const password = randomBytes(12).toString('hex');
  let child: ChildProcess | undefined;
  let isKilled = false;
  const errors: string[] = [];

  const launch = async (): Promise<ChildProcess> => {
    let said = '';
    const store = args.includes('--mongo') ? [] : ['--data', dataDir];
    const command = [program, 'serve', '--port', String(port.number), ...store, ...args];
    const started = spawn(process.execPath, command, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, CASCADE_ADMIN_USERNAME: user, CASCADE_ADMIN_PASSWORD: password, CASCADE_SYSTEM_PASSWORD: password, ...env },
    });
    guard(started.pid);
    isKilled = false;
    if (expects !== 'any') collectErrors(started, expects, errors);
    for (const stream of [started.stdout, started.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-20_000);
        onOutput?.(text);
      });
    for (const until = performance.now() + READY_WITHIN_MS; !(await isReady(url)); await sleep(50)) {
      if (started.exitCode !== null || started.signalCode !== null) throw new Error(`The service ended at once:\n${said}`);
      if (performance.now() > until) {
        await end(started, 'SIGKILL');
        throw new Error(`The service was not ready within ${READY_WITHIN_MS} ms:\n${said}`);
      }
    }
    return started;
  };

  const clean = async (): Promise<void> => {
    await rm(dataDir, { recursive: true, force: true });
    port[Symbol.dispose]();
  };
  try {
    child = await launch();
  } catch (error) {
    await clean();
    throw error;
  }
  return {
    url,
    user,
    password,
    dataDir,
    get process() {
      return child!;
    },
    kill: async () => {
      isKilled = true;
      await end(child!, 'SIGKILL');
    },
    restart: async () => {
      child = await launch();
    },
    [Symbol.asyncDispose]: async () => {
      const faults: string[] = [];
      try {
        // A killed service has left its database running; the next one takes it over and stops it.
        if (isKilled || child!.signalCode === 'SIGKILL') {
          if (!isKilled) faults.push('it was killed by somebody else');
          child = await launch();
        } else if (hasEnded(child!)) faults.push(`it had ended by itself (${endOf(child!)})`);
        if (!hasEnded(child!)) {
          const isInTime = await end(child!, 'SIGTERM');
          if (!isInTime) faults.push(`it did not stop within ${STOP_WITHIN_MS / 1_000} s`);
          else if (child!.exitCode !== 0) faults.push(`it stopped with ${endOf(child!)}`);
        }
      } finally {
        await clean();
      }
      faults.push(...errors.map((line) => `it logged ${line}`));
      if (faults.length > 0) throw new Error(`The service that a test has started: ${faults.join('\n')}`);
    },
  };
}

/** Lines of its log from the level error on, but for those that are expected. */
function collectErrors(child: ChildProcess, expected: readonly RegExp[], errors: string[]): void {
  createInterface({ input: child.stderr! }).on('line', (line) => {
    const entry = logEntry(line);
    if (entry && entry.level >= ERROR_LEVEL && !expected.some((message) => message.test(entry.msg))) errors.push(line);
  });
}

function logEntry(line: string): { level: number; msg: string } | null {
  if (!line.startsWith('{"level":')) return null;
  try {
    const { level, msg } = JSON.parse(line) as { level: number; msg?: string };
    return { level, msg: msg ?? '' };
  } catch {
    return null; // cut off by a kill
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;
const endOf = ({ exitCode, signalCode }: ChildProcess): string => (signalCode === null ? `exit code ${exitCode}` : `signal ${signalCode}`);

/** Whoever has started the service may be killed: a small watcher then ends it in order. It ends with either of them. */
function guard(pid: number | undefined): void {
  if (pid === undefined) return;
  const script = 'while kill -0 "$1" && kill -0 "$2"; do sleep 1; done; kill -TERM "$2"';
  spawn('/bin/sh', ['-c', script, 'guard', String(process.pid), String(pid)], { detached: true, stdio: 'ignore' }).unref();
}

/** @returns whether it ended in time; it is killed when it did not */
async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<boolean> {
  if (hasEnded(child)) return true;
  const ended = once(child, 'exit');
  child.kill(signal);
  let isInTime = true;
  const timer = setTimeout(() => {
    isInTime = false;
    child.kill('SIGKILL');
  }, STOP_WITHIN_MS);
  await ended;
  clearTimeout(timer);
  // What it said last may still be on its way; a child of its own that goes on may hold the pipe open.
  if (signal !== 'SIGKILL') await Promise.race([once(child, 'close'), sleep(LAST_WORDS_MS)]);
  return isInTime;
}

/** The folder with package.json, whether this file runs from its source or from dist/. */
function repository(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

function isReady(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = get(`${url}/healthz`, { timeout: 2_000 }, (reply) => {
      reply.resume();
      resolve(reply.statusCode === 200);
    });
    probe.on('error', () => resolve(false));
    probe.on('timeout', () => probe.destroy());
  });
}
