// What namespaces cost that nobody uses: a thousand beside a few, on the disk, and open in a process. And what a start, a stop and a death of one among ten
// processes take, with few and with many namespaces open.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RestClient } from '../../conformance/client/index.ts';
import { openInstallation } from '../../scripts/cluster/index.ts';
import { cpuSeconds, memory } from '../processes.ts';
import { type Figure, progress } from '../report/index.ts';
import { namesOf, prepare } from './prepare.ts';
import { copiesIn, loggedIn } from './share.ts';

const MANY = 1_000;
const FEW = 10;
const LOADED = 8;
/** Each has some 40 files at the database, which may open 20,000 on a usual machine (docs/operations.md). */
const OPENED = 200;
const PROCESSES = 10;
const IDLE_MS = 20_000;
const AT_ONCE = 16;

type Installation = NonNullable<Awaited<ReturnType<typeof openInstallation>>>;

export async function manyNamespaces(): Promise<Figure[]> {
  return [...(await ofOneProcess()), ...(await ofTenProcesses())];
}

/** One select in each. */
async function opened(client: RestClient, names: readonly string[]): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < names.length) await rulesOf(client, names[next++]!);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function rulesOf(client: RestClient, name: string): Promise<void> {
  const reply = await client.send('GET', '/rules', { query: { limit: '1' }, headers: { 'X-Target-Namespace': name } });
  if (reply.status !== 200) throw new Error(`${name}: ${reply.status} ${reply.text}`);
}

interface Idle {
  readonly mb: number;
  /** Seconds of processor a minute. */
  readonly cpu: number;
  readonly mongod: number;
  /** Commands of the database a second. */
  readonly commands: number;
}

async function idle({ services, client, mongodPid }: Installation): Promise<Idle> {
  const pid = services[0]!.process.pid ?? 0;
  const commands = async (): Promise<number> => {
    const { opcounters } = (await client.db('admin').command({ serverStatus: 1 })) as { opcounters: Record<string, number> };
    return Object.values(opcounters).reduce((sum, n) => sum + n, 0);
  };
  await sleep(IDLE_MS / 4);
  const [cpu, mongod, asked] = [await cpuSeconds(pid), await cpuSeconds(mongodPid), await commands()];
  await sleep(IDLE_MS);
  const perMinute = 60_000 / IDLE_MS;
  return {
    mb: (await memory(pid)).now,
    cpu: ((await cpuSeconds(pid)) - cpu) * perMinute,
    mongod: ((await cpuSeconds(mongodPid)) - mongod) * perMinute,
    commands: ((await commands()) - asked) / (IDLE_MS / 1_000),
  };
}

async function ofOneProcess(): Promise<Figure[]> {
  const starts: Record<string, number[]> = {};
  const idles: Record<string, Idle> = {};
  for (const count of [MANY, FEW]) {
    await using installation = await openInstallation(1, 'any', (mongoUri) => prepare(mongoUri, count, LOADED));
    if (!installation) throw new Error('nats-server is not installed');
    const [service] = installation.services;
    const name = `${count.toLocaleString('en')} namespaces`;
    for (let round = 0; round < 3; round++) {
      progress(`${name}: start ${round + 1}`);
      await ended(installation, 0);
      const begun = performance.now();
      await service!.restart();
      (starts[name] ??= []).push(performance.now() - begun);
    }
    const client = await loggedIn(service!.url);
    for (const namespace of namesOf(LOADED)) await copiesIn(client, namespace);
    progress(`${name}: idle with ${LOADED} open`);
    idles[`${name}, ${LOADED} open`] = await idle(installation);
    if (count === MANY) {
      progress(`${name}: idle with ${OPENED} open`);
      await opened(client, namesOf(OPENED));
      idles[`${name}, ${OPENED} open`] = await idle(installation);
    }
    client.close();
  }
  const of = (what: keyof Idle, figure: string, unit: string): Figure => ({
    name: figure,
    unit,
    rounds: Object.fromEntries(Object.entries(idles).map(([name, one]) => [name, [one[what]]])),
  });
  return [
    { name: 'Start of a process', unit: 'ms', rounds: starts },
    of('mb', 'An idle process, memory', 'MB'),
    of('cpu', 'An idle process, its CPU seconds', 's/min'),
    of('mongod', 'An idle process, CPU seconds of its mongod', 's/min'),
    of('commands', 'An idle process, commands to its database', '1/s'),
  ];
}

async function ended({ services }: Installation, at: number, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  const child = services[at]!.process;
  const end = once(child, 'exit');
  child.kill(signal);
  await end;
}

/** With so many open: how long until each answers again at another process after one has been stopped, or killed. */
async function ofTenProcesses(): Promise<Figure[]> {
  const names = namesOf(MANY);
  await using all = await openInstallation(PROCESSES, 'any', (mongoUri) => prepare(mongoUri, MANY, LOADED));
  if (!all) throw new Error('nats-server is not installed');
  const client = await loggedIn(all.services[0]!.url);
  const stops: Record<string, number[]> = {};
  const deaths: Record<string, number[]> = {};
  for (const count of [LOADED, OPENED]) {
    const name = `${count} open`;
    await opened(client, names.slice(0, count));
    for (const [times, signal] of [
      [stops, 'SIGTERM'],
      [deaths, 'SIGKILL'],
    ] as const)
      for (let at = 1; at <= 3; at++) {
        progress(`ten processes, ${name}: ${signal} ${at} of 3`);
        const begun = performance.now();
        await ended(all, at, signal);
        await opened(client, names.slice(0, count));
        (times[name] ??= []).push(performance.now() - begun);
        await all.services[at]!.restart();
        await opened(client, names.slice(0, count));
      }
  }
  client.close();
  const beside = `${MANY.toLocaleString('en')} namespaces, ${PROCESSES} processes`;
  return [
    { name: `A process stops, until all that was open answers (${beside})`, unit: 'ms', rounds: stops },
    { name: `A process is killed, until all that was open answers (${beside})`, unit: 'ms', rounds: deaths },
  ];
}
