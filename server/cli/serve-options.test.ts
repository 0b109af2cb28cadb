// The options of `serve`, from the command line and the environment; the parts that need no running service.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { cascade } from '../testing/fake-terminal.ts';
import { secret } from './secrets.ts';
import { addServeOptions, dropEmptyVariables } from './serve-options.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cascade-options-'));
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(() => {
  vi.unstubAllEnvs();
});

function read(args: string[], env: Record<string, string> = {}): Record<string, unknown> {
  const command = addServeOptions(new Command('serve'))
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  for (const { envVar } of command.options) if (envVar !== undefined) vi.stubEnv(envVar, env[envVar]);
  dropEmptyVariables(command, process.env);
  return command.parse(args, { from: 'user' }).opts();
}

test('each option has a variable of its name', () => {
  for (const { long, envVar } of addServeOptions(new Command('serve')).options)
    expect(envVar).toBe(`CASCADE_${long!.slice(2).replaceAll('-', '_').toUpperCase()}`);
});

test('values are read from options and from variables', () => {
  const wanted = {
    port: 9000,
    host: '::1',
    data: '/srv/c',
    http: 'node',
    lanes: 3,
    requireSandbox: 'namespaces',
    bodyLimit: 2 * 1024 * 1024,
    corsOrigins: ['https://a.example', 'http://localhost:3000'],
    idleTimeout: 30,
    trustProxy: ['10.0.0.0/8', '::1'],
    publicUrl: 'https://c.example/base',
    logLevel: 'warn',
    openEvaluations: 5,
    builtinPackageAliases: ['a.b', 'c'],
    adminUsername: 'boss',
    adminPasswordFile: 'p',
    passwordCost: 18,
  };
  const texts: Record<string, string> = {
    ...Object.fromEntries(Object.entries(wanted).map(([name, value]) => [name, String(value)])),
    bodyLimit: '2M',
  };
  const dashed = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  expect(read(Object.entries(texts).flatMap(([name, text]) => [`--${dashed(name)}`, text]))).toEqual(wanted);
  const env = Object.entries(texts).map(([name, text]) => [`CASCADE_${dashed(name).replaceAll('-', '_').toUpperCase()}`, text]);
  expect(read([], Object.fromEntries(env) as Record<string, string>)).toEqual(wanted);
});

test('an option has precedence over its variable, and an empty variable counts as absent', () => {
  expect(read(['--port', '1'], { CASCADE_PORT: '2', CASCADE_HOST: '' })).toEqual({ port: 1, logLevel: 'info' });
  expect(read([])).toEqual({ port: 8080, logLevel: 'info' });
  expect(read(['--cors-origins', '*', '--trust-proxy', '2'])).toMatchObject({ corsOrigins: '*', trustProxy: 2 });
  expect(read(['--cors-origins', 'none'])).toMatchObject({ corsOrigins: [] });
  expect(read(['--require-sandbox'])).toMatchObject({ requireSandbox: 'limits' });
  expect(read([], { CASCADE_REQUIRE_SANDBOX: 'true' })).toMatchObject({ requireSandbox: 'limits' });
});

test.each([
  ['--port', '65536', 'from 0 to 65535'],
  ['--port', '1e3', 'from 0 to 65535'],
  ['--lanes', '0', 'from 1 to 64'],
  ['--require-sandbox', 'fully', 'one of none, limits, namespaces, filtered'],
  ['--http', 'apache', 'Allowed choices are uws, node'],
  ['--body-limit', '100', 'from 1K to 256M'],
  ['--body-limit', '1G', 'from 1K to 256M'],
  ['--cors-origins', 'https://a.example/', 'is no origin'],
  ['--cors-origins', 'https://a.example,,https://b.example', 'is empty'],
  ['--cors-origins', '*,https://a.example', 'is no origin'],
  ['--idle-timeout', '7', 'from 8 to 960'],
  ['--trust-proxy', '0', 'from 1 to 16'],
  ['--trust-proxy', 'true', 'is neither an address nor a network'],
  ['--public-url', 'c.example', 'begins with http'],
  ['--password-cost', '13', 'from 14 to 20'],
  ['--log-level', 'loud', 'Allowed choices'],
  ['--open-evaluations', '0', 'from 1 to 999999999'],
  ['--builtin-package-aliases', 'a..b', 'is no name of a package'],
])('%s %s is refused', (option, value, reason) => {
  expect(() => read([option, value])).toThrow(reason);
  const variable = `CASCADE_${option.slice(2).replaceAll('-', '_').toUpperCase()}`;
  expect(() => read([], { [variable]: value })).toThrow(`from env '${variable}' is invalid`);
});

test.each([
  [['--data', 'a', '--mongo', 'b'], {}, "'--data <dir>' cannot be used with option '--mongo <uri>'"],
  [['--mongo-file', 'a'], { CASCADE_MONGO: 'b' }, "environment variable 'CASCADE_MONGO' cannot be used with option '--mongo-file <file>'"],
  [[], { CASCADE_DATA: 'a', CASCADE_MONGO_FILE: 'b' }, "'CASCADE_DATA' cannot be used with environment variable 'CASCADE_MONGO_FILE'"],
])('%j with %j is a contradiction', (args, env, reason) => {
  expect(() => read(args, env as Record<string, string>)).toThrow(reason);
});

test('a secret is read from its variable or from a file, without the line end', async () => {
  const file = join(folder, 'secret');
  await writeFile(file, 'pass word \n');
  expect(secret({ A: 'x' }, 'A', undefined)).toBe('x');
  expect(secret({ A: '' }, 'A', file)).toBe('pass word ');
  expect(secret({}, 'A', undefined)).toBeUndefined();
  expect(() => secret({ A: 'x' }, 'A', file)).toThrow('A and a file for it');
  expect(() => secret({}, 'A', join(folder, 'none'))).toThrow(/none, which is to hold A, cannot be read: there is no such file/);
  await writeFile(file, '\uFEFFpass word\r\n'); // as editors on Windows save it
  expect(secret({}, 'A', file)).toBe('pass word');
  await writeFile(file, '\n');
  expect(() => secret({}, 'A', file)).toThrow('which is to hold A, is empty');
});

test('what may be a secret is taken out of the environment once it is read', async () => {
  const file = join(folder, 'no-folder');
  await writeFile(file, '');
  const key = 'ab'.repeat(32);
  const env: Record<string, string> = {
    CASCADE_ADMIN_PASSWORD: 'correct horse',
    CASCADE_MASTER_KEY: key,
    CASCADE_NATS: 'nats://t@n',
    TZ: 'UTC',
  };
  expect((await cascade(['serve', '--data', file, '--port', '0', '--log-level', 'fatal'], env)).err).toContain('a file has that name');
  expect(env).toEqual({ TZ: 'UTC' });
});

test('an invalid secret is refused before anything is opened', async () => {
  const both = await cascade(['serve', '--data', join(folder, 'd'), '--admin-password-file', 'x'], { CASCADE_ADMIN_PASSWORD: 'y' });
  expect([both.code, both.err]).toEqual([2, 'CASCADE_ADMIN_PASSWORD and a file for it (x) are both given: give one of them.\n']);
  const key = await cascade(['serve', '--data', join(folder, 'd')], { CASCADE_MASTER_KEY: 'short' });
  expect([key.code, key.err]).toEqual([2, expect.stringContaining('no key of 32 bytes')]);
});
