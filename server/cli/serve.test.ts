// The whole service as its users start it: the built command, an embedded database in a folder of its own, signals.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { cascade, type Outcome } from '../testing/fake-terminal.ts';

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
  /** The log until now. */
  log(): string;
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
      if (url) resolve({ url, out, log: () => err });
    });
    serving.once('exit', (code) => reject(new Error(`exit ${code}: ${err}`)));
  });
}

test.skipIf(!existsSync('/dev/full'))('a log that finds no room ends nothing', async () => {
  const full = openSync('/dev/full', 'w');
  const args = ['serve', '--port', '0', '--host', '127.0.0.1', '--data', dataDir, '--log-level', 'info'];
  child = spawn(process.execPath, [BIN, ...args], { stdio: ['ignore', 'pipe', full] });
  closeSync(full);
  let out = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  await Promise.race([vi.waitUntil(() => out.includes('serves on'), { timeout: 120_000 }), once(child, 'exit')]);
  expect(out).toContain('serves on');
  expect(await stop('SIGTERM')).toBe(0);
});

async function stop(...signals: NodeJS.Signals[]): Promise<unknown> {
  const ended = once(child!, 'exit');
  for (const signal of signals) child!.kill(signal);
  return (await ended)[0];
}

async function login(url: string, username: string, password: string): Promise<number> {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  return (await fetch(`${url}/authenticate`, { headers: { Authorization: authorization } })).status;
}

async function tokenOf(url: string, username: string, password: string): Promise<string> {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const reply = await fetch(`${url}/authenticate`, { headers: { Authorization: authorization } });
  return ((await reply.json()) as { accessToken: string }).accessToken;
}

test('the first start prints its passwords once, and a signal, also one that comes twice, ends it with exit code 0', async () => {
  const first = await start(['--password-cost', '14']);
  await expect.poll(first.log).toContain('passwords are hashed at less than the usual cost');
  const passwords = new Map([...first.out.matchAll(/password of user (\S+) is (\S+)/g)].map(([, name, password]) => [name!, password!]));
  expect([...passwords.keys()]).toEqual(['system', 'admin']);
  expect((await fetch(`${first.url}/healthz`)).status).toBe(200);
  for (const [name, password] of passwords) expect(await login(first.url, name, password)).toBe(200);
  expect(await stop('SIGTERM')).toBe(0);

  const second = await start([], { CASCADE_ADMIN_PASSWORD: 'ignored by later starts', CASCADE_PASSWORD_COST: '' });
  expect(second.out).not.toContain('First start');
  expect(second.out).toContain('Note: ignored, since there are accounts already: CASCADE_ADMIN_PASSWORD.');
  expect(second.out).toContain('`cascade admin reset NAME`');
  expect(await login(second.url, 'admin', passwords.get('admin')!)).toBe(200);
  expect(await login(second.url, 'admin', 'ignored by later starts')).toBe(401);
  expect(await stop('SIGINT', 'SIGTERM')).toBe(0);
  expect(second.log()).not.toContain('passwords are hashed');
});

test('a failed start gives the reason and leaves nothing behind; given names and passwords are not printed', async () => {
  await expect(start([], { CASCADE_ADMIN_PASSWORD: 'short' })).rejects.toThrow(/exit 1: .*8 to 256 characters/s);
  const env = { CASCADE_ADMIN_USERNAME: 'Boss', CASCADE_ADMIN_PASSWORD: 'pass:word 9', CASCADE_SYSTEM_PASSWORD: 'system word 9' };
  const { url, out } = await start([], env);
  expect(out).toBe(`Cascade serves on ${url}\n`);
  expect(await login(url, 'boss', 'pass:word 9')).toBe(200);
  expect(await login(url, 'system', 'system word 9')).toBe(200);
});

test('a lost password is reset on the folder while the service is stopped; the sessions of the account are ended', async () => {
  const system = { CASCADE_SYSTEM_PASSWORD: 'system word 9', CASCADE_ADMIN_PASSWORD: 'forgotten 9' };
  const { url } = await start([], system);
  const token = await tokenOf(url, 'system', 'system word 9');
  const asked = (at: string): Promise<number> =>
    fetch(`${at}/api/v1/_status`, { headers: { Authorization: `Bearer ${token}` } }).then(({ status }) => status);
  expect(await asked(url)).toBe(200);
  const reset = (...args: string[]): Promise<Outcome> => cascade(['admin', 'reset', ...args, '--data', dataDir]);
  expect(await reset('system', '--generate')).toMatchObject({
    code: 1,
    err: expect.stringContaining('is in use by another Cascade') as string,
  });
  expect(await stop('SIGTERM')).toBe(0);
  expect(await reset('admin')).toMatchObject({ code: 2, err: expect.stringContaining('--password-file FILE or --generate') as string });
  const file = join(dataDir, 'new-password');
  await writeFile(file, 'new admin 9\n');
  expect(await reset('ADMIN', '--password-file', file)).toMatchObject({ code: 0 });
  const { code, out } = await reset('system', '--generate');
  const generated = /The password of user system is (\S+)/.exec(out)?.[1];
  expect([code, generated]).toEqual([0, expect.any(String)]);

  const again = await start();
  expect(await login(again.url, 'admin', 'forgotten 9')).toBe(401);
  expect(await login(again.url, 'admin', 'new admin 9')).toBe(200);
  expect(await login(again.url, 'system', generated!)).toBe(200);
  expect(await asked(again.url)).toBe(401);
  const audits = `${again.url}/api/v1/resources/audits?where=${encodeURIComponent('{"message":{"$regex":"^reset of /users/admin by "}}')}`;
  const headers = { Authorization: `Bearer ${await tokenOf(again.url, 'admin', 'new admin 9')}` };
  expect(await (await fetch(audits, { headers })).json()).toMatchObject([{ entity: '/users/admin', op: 'update', username: 'system' }]);

  // With a database that is named by its address the service may be running; it follows the change within a second.
  const { port } = JSON.parse(await readFile(join(dataDir, 'mongod.json'), 'utf8')) as { port: number };
  const user = JSON.parse(await readFile(join(dataDir, 'mongod.user.json'), 'utf8')) as { name: string; password: string };
  const uri = join(dataDir, 'uri.txt');
  await writeFile(uri, `mongodb://${user.name}:${user.password}@127.0.0.1:${port}/?directConnection=true\n`);
  expect(await cascade(['admin', 'reset', 'nobody', '--generate', '--mongo-file', uri])).toMatchObject({
    code: 1,
    err: expect.stringContaining('cascade.user.not.found') as string,
  });
  const ask = (...answers: string[]): Promise<Outcome> => cascade(['admin', 'reset', 'admin', '--mongo-file', uri], {}, answers);
  expect(await ask('typed admin 9', 'typed other 9')).toMatchObject({
    code: 2,
    err: expect.stringContaining('These are two passwords') as string,
  });
  expect(await ask('short', 'short')).toMatchObject({ code: 1, err: expect.stringContaining('cascade.') as string });
  expect(await ask('typed admin 9', 'typed admin 9')).toMatchObject({
    code: 0,
    out: expect.stringContaining('has the new password') as string,
  });
  expect(await login(again.url, 'admin', 'typed admin 9')).toBe(200);
  expect(await login(again.url, 'admin', 'new admin 9')).toBe(401);
});

test('a folder without data of a service has no accounts to reset, and stays as it is', async () => {
  const outcome = await cascade(['admin', 'reset', 'admin', '--generate', '--data', join(dataDir, 'none')]);
  expect(outcome).toMatchObject({ code: 2, err: expect.stringContaining('is no data folder of a service') as string });
});

test('a folder without the master key that sealed its data does not start, and says where the key belongs; rotate-keys makes another', async () => {
  const { url } = await start(['--password-cost', '14'], { CASCADE_ADMIN_PASSWORD: 'correct horse' });
  const headers = { authorization: `Bearer ${await tokenOf(url, 'admin', 'correct horse')}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'Safe', properties: { pin: { type: 'String', encrypted: true } } });
  expect((await fetch(`${url}/api/v1/resources/types`, { method: 'POST', headers, body })).status).toBe(200);
  expect(await stop('SIGTERM')).toBe(0);
  const key = join(dataDir, 'master.key');
  await rename(key, join(dataDir, 'apart.key'));
  await expect(start()).rejects.toThrow(`It stands in ${key}, where the one belongs`);
  await rename(join(dataDir, 'apart.key'), key);
  const before = await readFile(key, 'utf8');
  expect(await cascade(['rotate-keys', '--data', dataDir])).toMatchObject({ code: 0, err: '' });
  expect(await readFile(key, 'utf8')).not.toBe(before);
  await start();
});
