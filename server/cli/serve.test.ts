// The whole service as its users start it: the built command, an embedded database in a folder of its own, signals.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const BIN = join(import.meta.dirname, '../../bin/cascade.js');

let dataDir: string;
let child: ChildProcess | undefined;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'cascade-serve-'));
});
afterEach(async () => {
  if (child && child.exitCode === null) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  await rm(dataDir, { recursive: true });
});

interface Started {
  url: string;
  /** Standard output up to the address. */
  out: string;
}

async function start(args: string[] = [], env: Record<string, string> = {}): Promise<Started> {
  const serving = spawn(process.execPath, [BIN, 'serve', '--port', '0', '--host', '127.0.0.1', '--data', dataDir, ...args], {
    env: { ...process.env, CASCADE_LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child = serving;
  let out = '';
  let err = '';
  serving.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  return new Promise((resolve, reject) => {
    serving.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      const url = /serves on (\S+)\n/.exec(out)?.[1];
      if (url) resolve({ url, out });
    });
    serving.once('exit', (code) => reject(new Error(`exit ${code}: ${err}`)));
  });
}

async function stop(...signals: NodeJS.Signals[]): Promise<unknown> {
  const ended = once(child!, 'exit');
  for (const signal of signals) child!.kill(signal);
  return (await ended)[0];
}

async function login(url: string, username: string, password: string): Promise<number> {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  return (await fetch(`${url}/authenticate`, { headers: { Authorization: authorization } })).status;
}

test('the first start prints its passwords once, and a signal, also one that comes twice, ends it with exit code 0', async () => {
  const first = await start();
  const passwords = new Map([...first.out.matchAll(/password of user (\S+) is (\S+)/g)].map(([, name, password]) => [name!, password!]));
  expect([...passwords.keys()]).toEqual(['system', 'admin']);
  expect((await fetch(`${first.url}/healthz`)).status).toBe(200);
  for (const [name, password] of passwords) expect(await login(first.url, name, password)).toBe(200);
  expect(await stop('SIGTERM')).toBe(0);

  const second = await start([], { CASCADE_ADMIN_PASSWORD: 'ignored by later starts' });
  expect(second.out).not.toContain('password');
  expect(await login(second.url, 'admin', passwords.get('admin')!)).toBe(200);
  expect(await login(second.url, 'admin', 'ignored by later starts')).toBe(401);
  expect(await stop('SIGINT', 'SIGTERM')).toBe(0);
});

test('given names and passwords are not printed', async () => {
  const env = { CASCADE_ADMIN_USERNAME: 'Boss', CASCADE_ADMIN_PASSWORD: 'pass:word 9', CASCADE_SYSTEM_PASSWORD: 'system word 9' };
  const { url, out } = await start([], env);
  expect(out).toBe(`Cascade serves on ${url}\n`);
  expect(await login(url, 'boss', 'pass:word 9')).toBe(200);
  expect(await login(url, 'system', 'system word 9')).toBe(200);
});

test('a start that fails says why and leaves nothing behind', async () => {
  await expect(start([], { CASCADE_ADMIN_PASSWORD: 'short' })).rejects.toThrow(/exit 1: .*8 to 256 characters/s);
  await start([], { CASCADE_ADMIN_PASSWORD: 'long enough' });
});
