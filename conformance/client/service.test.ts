// Whoever starts a service for a test learns when it did not end as it should; tried on small programs in its place.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { takePort } from './ports.ts';
import { type StartedService, type StartOptions, startService } from './service.ts';

const folder = mkdtempSync(join(tmpdir(), 'cascade-fake-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A service that answers /healthz, and does that at a request to /act and at SIGTERM. */
function start(
  { act = '', stop = 'process.exit(0)' }: { act?: string; stop?: string },
  options: StartOptions = {},
): Promise<StartedService> {
  const program = join(folder, `${Math.random()}.cjs`);
  writeFileSync(
    program,
    `const log = (level, msg) => process.stderr.write(JSON.stringify({ level, msg }) + '\\n');
     require('node:http').createServer((request, reply) => { reply.end(); if (request.url === '/act') { ${act} } })
       .listen(Number(process.argv[process.argv.indexOf('--port') + 1]), '127.0.0.1');
     process.on('SIGTERM', () => { ${stop} });`,
  );
  return startService({ program, ...options });
}

const closed = async (service: StartedService): Promise<string> =>
  service[Symbol.asyncDispose]().then(
    () => 'in order',
    (error: Error) => error.message,
  );

async function acted(service: StartedService): Promise<StartedService> {
  await (await fetch(`${service.url}/act`)).text();
  return service;
}

test('a service that stops with exit code 0 and without an error in its log is in order', async () => {
  const service = await start({ act: 'log(40, "a warning")' });
  expect(await closed(await acted(service))).toBe('in order');
});

test.each([
  ['stops with another exit code', { stop: 'process.exit(3)' }, 'it stopped with exit code 3'],
  ['crashes while it stops', { stop: 'process.abort()' }, 'it stopped with signal SIGABRT'],
  ['logs an error', { act: 'log(50, "unexpected fault")' }, 'it logged {"level":50,"msg":"unexpected fault"}'],
  ['logs an error while it stops', { stop: 'log(60, "a part"); process.exit(0)' }, 'it logged {"level":60,"msg":"a part"}'],
])('a service that %s is told of', async (_, does, message) => {
  const service = await start(does);
  expect(await closed(await acted(service))).toContain(message);
});

test.each([
  ['process.exit(0)', 'it had ended by itself (exit code 0)'],
  ['process.kill(process.pid, "SIGSEGV")', 'it had ended by itself (signal SIGSEGV)'],
])('a service that has ended before it was stopped is told of: %s', async (act, message) => {
  const service = await start({ act });
  const ended = new Promise((resolve) => service.process.once('exit', resolve));
  await acted(service).catch(() => undefined); // its answer may be cut off
  await ended;
  expect(await closed(service)).toContain(message);
});

test('what a test provokes on purpose is not told of: a kill, and errors that it expects', async () => {
  const service = await start({ act: 'log(50, "the sandbox process ended")' }, { expects: [/^the sandbox process ended$/] });
  await acted(service);
  await service.kill();
  await service.restart();
  expect(await closed(await acted(service))).toBe('in order');
});

test('ports that are taken at the same time differ, and are below those of outgoing connections', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, () => takePort()));
  try {
    expect(new Set(ports.map(({ number }) => number)).size).toBe(ports.length);
    for (const { number } of ports) expect(number).toBeLessThan(32_768);
  } finally {
    for (const port of ports) port[Symbol.dispose]();
  }
});
