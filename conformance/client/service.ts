// A service of our own for a while: `cascade serve` as a child process on a free port, with a data folder that goes with it.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const READY_WITHIN_MS = 120_000;
const STOP_WITHIN_MS = 30_000;

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
}

/** Throws, with what the service said, when it does not become ready. */
export async function startService({
  onOutput,
  args = [],
  env = {},
  folder = tmpdir(),
  program = join(repository(), 'bin', 'cascade.js'),
}: StartOptions = {}): Promise<StartedService> {
  const dataDir = await mkdtemp(join(folder, 'cascade-run-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const user = 'admin';
  const password = randomBytes(12).toString('hex');
  let child: ChildProcess | undefined;

  const launch = async (): Promise<ChildProcess> => {
    let said = '';
    const store = args.includes('--mongo') ? [] : ['--data', dataDir];
    const command = [program, 'serve', '--port', String(port), ...store, ...args];
    const started = spawn(process.execPath, command, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, CASCADE_ADMIN_USERNAME: user, CASCADE_ADMIN_PASSWORD: password, CASCADE_SYSTEM_PASSWORD: password, ...env },
    });
    guard(started.pid);
    for (const stream of [started.stdout, started.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-20_000);
        onOutput?.(text);
      });
    for (const until = performance.now() + READY_WITHIN_MS; !(await isReady(url)); await sleep(50)) {
      if (started.exitCode !== null || started.signalCode !== null) throw new Error(`The service ended at once:\n${said}`);
      if (performance.now() > until) {
        await stop(started, 'SIGKILL');
        throw new Error(`The service was not ready within ${READY_WITHIN_MS} ms:\n${said}`);
      }
    }
    return started;
  };

  const clean = () => rm(dataDir, { recursive: true, force: true });
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
    kill: () => stop(child!, 'SIGKILL'),
    restart: async () => {
      child = await launch();
    },
    [Symbol.asyncDispose]: async () => {
      // A killed service has left its database running; the next one takes it over and stops it.
      if (child!.signalCode === 'SIGKILL') child = await launch();
      await stop(child!, 'SIGTERM');
      await clean();
    },
  };
}

/** Whoever has started the service may be killed: a small watcher then ends it in order. It ends with either of them. */
function guard(pid: number | undefined): void {
  if (pid === undefined) return;
  const script = 'while kill -0 "$1" && kill -0 "$2"; do sleep 1; done; kill -TERM "$2"';
  spawn('/bin/sh', ['-c', script, 'guard', String(process.pid), String(pid)], { detached: true, stdio: 'ignore' }).unref();
}

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
  await ended;
  clearTimeout(timer);
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

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
