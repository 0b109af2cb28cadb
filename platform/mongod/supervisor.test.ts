// Real processes, really killed. The host is a small script (testing/host.mjs) that holds an embedded mongod as a service does.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { pino } from 'pino';
import { test as base, vi } from 'vitest';
import { amount } from '../../scripts/testing/amount.ts';
import { openEmbeddedMongod } from './index.ts';
import { commandLine, end, ended, isAlive } from './processes.ts';

interface Host {
  readonly process: ChildProcess;
  readonly uri: string;
  readonly pid: number;
  readonly port: number;
  readonly isAdopted: boolean;
}

vi.setConfig({ maxConcurrency: 4 });
const silent = pino({ level: 'silent' });
const hostProgram = new URL('./testing/host.mjs', import.meta.url).pathname;

/** A folder of the test's own and the hosts on it; all of it is gone afterwards, whatever has happened. */
interface Room {
  readonly folder: string;
  startHost(): Promise<Host>;
}

const test = base.extend<{ room: Room }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the parameter's form
  room: async ({}, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'cascade-mongod-'));
    const hosts: ChildProcess[] = [];
    const startHost = async (): Promise<Host> => {
      const child = spawn(process.execPath, [hostProgram, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
      hosts.push(child);
      const line = await Promise.race([
        once(createInterface(child.stdout), 'line').then(([text]) => String(text)),
        once(child, 'close').then(() => 'failed "it ended"'), // behind its last line
      ]);
      if (line.startsWith('failed ')) throw new Error(JSON.parse(line.slice(7)) as string);
      return { process: child, ...(JSON.parse(line.slice(6)) as Omit<Host, 'process'>) };
    };
    await use({ folder, startHost });
    for (const host of hosts) host.kill('SIGKILL');
    for (const pid of mongodsOn(folder)) await end(pid, 0);
    await rm(folder, { recursive: true, force: true });
  },
});

/** A bare Debian has no `ps`. */
function allProcesses(): number[] {
  const listed =
    process.platform === 'linux' ? readdirSync('/proc') : execFileSync('ps', ['-eo', 'pid='], { encoding: 'utf8' }).split('\n');
  return listed.map(Number).filter((pid) => pid > 0);
}

function mongodsOn(folder: string): number[] {
  return allProcesses().filter(
    (pid) => commandLine(pid)?.some((argument) => argument.startsWith(folder)) && commandLine(pid)?.includes('--dbpath') && isAlive(pid),
  );
}

async function kill(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL');
  if (!(await ended(pid, 5_000))) throw new Error(`process ${pid} outlived SIGKILL`);
}

async function killHost(host: Host): Promise<void> {
  host.process.kill('SIGKILL');
  if (host.process.exitCode === null && host.process.signalCode === null) await once(host.process, 'exit');
}

async function withItems<T>(uri: string, work: (items: ReturnType<ReturnType<MongoClient['db']>['collection']>) => Promise<T>): Promise<T> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 15_000 });
  try {
    return await work(client.db('probe').collection('items'));
  } finally {
    await client.close();
  }
}

const write = (uri: string, n: number) => withItems(uri, (items) => items.insertOne({ n }, { writeConcern: { w: 'majority', j: true } }));
const count = (uri: string) => withItems(uri, (items) => items.countDocuments());

test.concurrent('a second start finds the data on the same port, and nothing runs in between', async ({ room: { folder }, expect }) => {
  const first = await openEmbeddedMongod({ dataDir: folder, log: silent });
  await write(first.uri, 1);
  await first[Symbol.asyncDispose]();
  expect(mongodsOn(folder)).toEqual([]);
  const second = await openEmbeddedMongod({ dataDir: folder, log: silent });
  expect([second.port, second.uri, second.isAdopted]).toEqual([first.port, first.uri, false]);
  expect(await count(second.uri)).toBe(1);
  await second[Symbol.asyncDispose]();
});

test.concurrent('whatever is killed, in any order, the next start serves all acknowledged data with exactly one mongod', async ({
  room: { folder, startHost },
  expect,
}) => {
  let written = 0;
  const orders: { killed: ('service' | 'mongod')[]; adopts: boolean }[] = [
    { killed: ['service', 'mongod'], adopts: false },
    { killed: ['service'], adopts: true },
    { killed: ['mongod', 'service'], adopts: false },
  ];
  for (const { killed, adopts } of orders.slice(0, amount(1, 3))) {
    const host = await startHost();
    for (let i = 0; i < 3; i++) await write(host.uri, written++);
    if (killed[0] === 'mongod') {
      process.kill(host.pid, 'SIGKILL'); // the service follows before it can start another
      await killHost(host);
    } else {
      await killHost(host);
      if (killed.length === 2) await kill(host.pid);
    }
    const next = await startHost();
    expect({ killed, adopted: next.isAdopted, count: await count(next.uri) }).toEqual({ killed, adopted: adopts, count: written });
    expect(mongodsOn(folder)).toHaveLength(1);
    next.process.kill('SIGTERM');
    await once(next.process, 'exit');
    expect(mongodsOn(folder)).toEqual([]);
  }
});

test.concurrent('a service killed at any moment of its first start leaves a folder that can be started', async ({
  room: { folder, startHost },
  expect,
}) => {
  for (const afterMs of [300, 600, 900, 150, 450, 750].slice(0, amount(2, 6))) {
    const child = spawn(process.execPath, [hostProgram, folder], { stdio: 'ignore' });
    await sleep(afterMs);
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  const host = await startHost();
  await write(host.uri, 1);
  expect(mongodsOn(folder)).toHaveLength(1);
  host.process.kill('SIGTERM');
  await once(host.process, 'exit');
  expect(mongodsOn(folder)).toEqual([]);
});

test.concurrent('what a killed service has left open locks nothing', async ({ room: { folder, startHost }, expect }) => {
  const host = await startHost();
  await write(host.uri, 1);
  // A transaction of a client that is never ended, as that of a process that is gone.
  const lost = new MongoClient(host.uri);
  const session = lost.startSession();
  session.startTransaction();
  await lost
    .db('probe')
    .collection('items')
    .updateOne({ n: 1 }, { $set: { n: 2 } }, { session });
  await killHost(host);
  await using mongod = await openEmbeddedMongod({ dataDir: folder, log: silent });
  const begun = performance.now();
  await withItems(mongod.uri, (items) => items.updateOne({ n: 1 }, { $set: { n: 3 } }));
  expect(performance.now() - begun).toBeLessThan(30_000); // the lock of a transaction that is still open is kept for a minute
  await lost.close();
});

test.concurrent('a mongod that dies under a living service is started again on its port', async ({ room: { folder }, expect }) => {
  await using mongod = await openEmbeddedMongod({ dataDir: folder, log: silent });
  await write(mongod.uri, 1);
  const before = mongod.pid!;
  await kill(before);
  await write(mongod.uri, 2); // the client waits for the primary
  expect(await count(mongod.uri)).toBe(2);
  // It may answer clients a moment before its supervisor has heard that it is ready.
  await vi.waitFor(() => expect(mongodsOn(folder)).toEqual([mongod.pid]), 60_000);
  expect(mongod.pid).not.toBe(before);
});

test.concurrent('an adopted mongod that dies is started again too, and stopped at the end', async ({
  room: { folder, startHost },
  expect,
}) => {
  const host = await startHost();
  await killHost(host);
  const mongod = await openEmbeddedMongod({ dataDir: folder, log: silent });
  expect([mongod.isAdopted, mongod.pid]).toEqual([true, host.pid]);
  await kill(host.pid);
  await write(mongod.uri, 1);
  expect(mongod.pid).not.toBe(host.pid);
  await mongod[Symbol.asyncDispose]();
  expect(mongodsOn(folder)).toEqual([]);
});

test.concurrent('a mongod that was adopted and lives is stopped in order at the end', async ({ room: { folder, startHost }, expect }) => {
  const host = await startHost();
  await killHost(host);
  const mongod = await openEmbeddedMongod({ dataDir: folder, log: silent });
  await mongod[Symbol.asyncDispose]();
  expect(isAlive(host.pid)).toBe(false);
});

test.concurrent('a mongod that hangs is ended and replaced', async ({ room: { folder, startHost }, expect }) => {
  const host = await startHost();
  await write(host.uri, 1);
  await killHost(host);
  process.kill(host.pid, 'SIGSTOP');
  await using mongod = await openEmbeddedMongod({ dataDir: folder, log: silent, graceMs: 1_000 });
  expect([mongod.isAdopted, isAlive(host.pid)]).toEqual([false, false]);
  expect(await count(mongod.uri)).toBe(1);
});

test.concurrent('when a stranger has the port, the database moves to another and keeps its data', async ({ room: { folder }, expect }) => {
  const first = await openEmbeddedMongod({ dataDir: folder, log: silent });
  await write(first.uri, 1);
  await first[Symbol.asyncDispose]();
  const stranger = createServer((socket) => socket.destroy()).listen(first.port, '127.0.0.1');
  await once(stranger, 'listening');
  try {
    for (let round = 0; round < 2; round++) {
      await using moved = await openEmbeddedMongod({ dataDir: folder, log: silent });
      expect(moved.port).not.toBe(first.port);
      expect(await count(moved.uri)).toBe(1);
    }
  } finally {
    stranger.close();
  }
});

test.concurrent('a folder in use is refused, and the refusal disturbs nobody', async ({ room: { folder, startHost }, expect }) => {
  await using mongod = await openEmbeddedMongod({ dataDir: folder, log: silent });
  await expect(startHost()).rejects.toThrow(`in use by another Cascade (process ${process.pid})`);
  await write(mongod.uri, 1);
  expect(mongodsOn(folder)).toEqual([mongod.pid]);
});

test.concurrent('mongod is given no scripting and nothing of the environment but what it needs; a folder open to all is closed', async ({
  room: { folder },
  expect,
}) => {
  await using first = await openEmbeddedMongod({ dataDir: folder, log: silent });
  const { pid } = first;
  expect(commandLine(pid!)).toContain('--noscripting');
  await expect(withItems(first.uri, (items) => items.find({ $where: 'true' }).toArray())).rejects.toThrow(
    /no globalScriptEngine|JavaScript/,
  );
  if (process.platform === 'linux') expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toMatch(/CASCADE|VITEST|npm_/);
  expect(JSON.parse(readFileSync(join(folder, 'mongod.json'), 'utf8'))).toMatchObject({ compatibility: expect.stringMatching(/^\d\.0$/) });
  await first[Symbol.asyncDispose]();
  for (const name of ['db', 'mongod.log', 'mongod.json', 'mongod.key']) chmodSync(join(folder, name), name === 'db' ? 0o755 : 0o644);
  await using _second = await openEmbeddedMongod({ dataDir: folder, log: silent });
  const modes = ['db', 'mongod.log', 'mongod.json', 'mongod.key'].map((name) => statSync(join(folder, name)).mode & 0o777);
  expect(modes).toEqual([0o700, 0o600, 0o600, 0o600]);
});

test.concurrent('nobody gets in without the password, and the secrets are for the owner only', async ({ room: { folder }, expect }) => {
  await using mongod = await openEmbeddedMongod({ dataDir: folder, log: silent });
  await expect(count(mongod.uri.replace(/\/\/.*@/, '//'))).rejects.toThrow(/requires authentication|not authorized/i);
  for (const name of ['mongod.key', 'mongod.user.json']) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
});
