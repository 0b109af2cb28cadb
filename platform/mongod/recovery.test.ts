// A script stands in for a mongod that recovers: it takes its time before it accepts connections, and says so in its log or does not.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { openDataFolder } from './data-folder.ts';
import { end, isAlive } from './processes.ts';
import { lastErrors } from './recovery.ts';
import { answers, startOn } from './running.ts';

const silent = pino({ level: 'silent' });
const SILENT_MS = 700;
const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

/** @param ms how long it recovers; @param every between two lines of its log, 0: it writes none */
async function recovering(ms: number, every: number) {
  const path = mkdtempSync(join(tmpdir(), 'cascade-recovery-'));
  closing.push(() => rmSync(path, { recursive: true, force: true }));
  const folder = openDataFolder(path);
  const binary = join(path, 'mongod');
  const text = `#!${process.execPath}
    const { appendFileSync, writeFileSync } = require('node:fs');
    const valueOf = (name) => process.argv[process.argv.indexOf(name) + 1];
    writeFileSync(valueOf('--dbpath') + '/mongod.lock', String(process.pid));
    if (${every}) setInterval(() => appendFileSync(valueOf('--logpath'), JSON.stringify({ s: 'I', msg: 'Recovering log' }) + '\\n'), ${every});
    setTimeout(() => require('node:net').createServer().listen(Number(valueOf('--port')), '127.0.0.1'), ${ms});
    setInterval(() => undefined, 1000);`;
  writeFileSync(binary, text);
  chmodSync(binary, 0o755);
  return { folder, binary, port: await freePort() };
}

test('a long recovery is waited for as long as the log grows', async () => {
  const { folder, binary, port } = await recovering(4 * SILENT_MS, 100);
  const begun = performance.now();
  const started = await startOn(binary, port, 'cascade', folder, silent, SILENT_MS);
  if (!('child' in started)) return expect.fail(JSON.stringify(started));
  closing.push(() => end(started.pid, 5_000));
  expect(performance.now() - begun).toBeGreaterThan(3 * SILENT_MS);
});

test('one that makes no progress is ended', async () => {
  const { folder, binary, port } = await recovering(600_000, 0);
  expect(await startOn(binary, port, 'cascade', folder, silent, SILENT_MS)).toEqual({ status: null, signal: 'SIGTERM' });
});

test('one that recovers when a service finds it is not taken for hung, however short a hung one’s time is', async () => {
  const { folder, binary, port } = await recovering(4 * SILENT_MS, 100);
  const starting = startOn(binary, port, 'cascade', folder, silent);
  while (!existsSync(join(folder.database, 'mongod.lock')) || statSync(join(folder.database, 'mongod.lock')).size === 0)
    await new Promise((resolve) => setTimeout(resolve, 10));
  const begun = performance.now();
  const started = await Promise.all([
    starting,
    answers({ port, pid: Number(readFileSync(join(folder.database, 'mongod.lock'), 'utf8')) }, 'cascade', folder, 10, silent),
  ]);
  expect(started[1]).toBe(false); // it accepts connections, and is no database
  expect(performance.now() - begun).toBeGreaterThan(2 * SILENT_MS);
  const [{ pid }] = started as [{ pid: number }, boolean];
  expect(isAlive(pid)).toBe(true);
  await end(pid, 5_000);
});

test('of a log the first errors since the last start are told, whatever else is in it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cascade-log-'));
  try {
    const logFile = join(folder, 'mongod.log');
    expect(lastErrors(logFile)).toBe('it left no log');
    const line = (s: string, msg: string, attr?: object): string => JSON.stringify({ t: {}, s, c: 'STORAGE', msg, attr });
    const lines = [
      line('E', 'of the start before'),
      line('I', '***** SERVER RESTARTED *****'),
      line('I', 'all is well'),
      '',
      '{"t":{},"s":"E","msg":"cut o',
      line('E', 'WiredTiger error message', { error: -31802, message: { msg: 'WiredTiger.turtle: is damaged' } }),
      line('E', 'cannot start', { error: { code: 1 } }),
      line('F', '\n\n***aborting after fassert() failure\n\n'),
      line('F', 'a backtrace'),
    ];
    writeFileSync(logFile, lines.join('\n'));
    expect(lastErrors(logFile)).toBe(
      'WiredTiger error message "WiredTiger.turtle: is damaged"; cannot start {"code":1}; ***aborting after fassert() failure',
    );
    writeFileSync(logFile, line('I', 'all is well'));
    expect(lastErrors(logFile)).toBe('it gave no reason');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
