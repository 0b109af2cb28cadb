// Three processes are stopped and started again, one after the other, while clients write at all of them: what a client waits that repeats its request at another
// process when a connection is lost or the service says "not now", beside the same load in quiet.
import { once } from 'node:events';
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { RestClient } from '../../conformance/client/index.ts';
import { openInstallation } from '../../scripts/cluster/index.ts';
import { type Figure, progress } from '../report/index.ts';
import { COPY, JSON_TYPE, namesOf, prepare, TYPE } from './prepare.ts';
import { copiesIn, loggedIn } from './share.ts';

const ROUNDS = 3;
const NAMESPACES = 8;
const CLIENTS = 24;
const PAUSE_MS = 20;
const QUIET_MS = 10_000;
const BEFORE_REPEATING_MS = 20;
const PERCENTILES = [50, 99, 100];

export async function rollingRestart(): Promise<Figure[]> {
  await using three = await openInstallation(3, 'any', (mongoUri) => prepare(mongoUri, NAMESPACES, NAMESPACES));
  if (!three) throw new Error('nats-server is not installed');
  const names = namesOf(NAMESPACES);
  const [first] = three.services;
  const login = await loggedIn(first!.url);
  const clients = three.services.map(({ url }) => new RestClient(url, CLIENTS));
  const stop = new AbortController();
  let histogram = createHistogram();
  const stored = new Map(names.map((name) => [name, 0]));
  const repeats = { connection: 0, 'not now': 0 };
  /** One change, at whatever process takes it. @throws when it is answered with anything but success and "not now" */
  const insert = async (namespace: string, id: string, at: number): Promise<void> => {
    const headers = {
      Authorization: `Bearer ${login.token}`,
      'X-Target-Namespace': namespace,
      'X-Cascade-Request-Id': id,
      ...JSON_TYPE,
    };
    for (let turn = at; ; turn++) {
      const reply = await clients[turn % clients.length]!.send('POST', `/custom/${TYPE}`, { text: '{"n":1}', headers }).catch(() => null);
      if (reply?.status === 200) return;
      if (reply && !reply.text.includes('cascade.server.unavailable')) throw new Error(`${reply.status} ${reply.text}`);
      repeats[reply ? 'not now' : 'connection']++;
      await sleep(BEFORE_REPEATING_MS);
    }
  };
  const work = async (client: number): Promise<void> => {
    for (let n = 0; !stop.signal.aborted; n++) {
      const namespace = names[(client + n) % names.length]!;
      const begun = performance.now();
      await insert(namespace, `${client} ${n}`, client + n);
      histogram.record(Math.max(1, Math.round((performance.now() - begun) * 1_000)));
      stored.set(namespace, stored.get(namespace)! + 1);
      await sleep(PAUSE_MS);
    }
  };
  const working = Promise.all(Array.from({ length: CLIENTS }, (_, client) => work(client)));
  working.catch(() => stop.abort());
  const during = async (what: () => Promise<unknown>): Promise<RecordableHistogram> => {
    histogram = createHistogram();
    await what();
    return histogram;
  };
  const quiet: RecordableHistogram[] = [];
  const rolling: RecordableHistogram[] = [];
  for (let round = 0; round < ROUNDS && !stop.signal.aborted; round++) {
    progress(`rolling restart, round ${round + 1} of ${ROUNDS}`);
    quiet.push(await during(() => sleep(QUIET_MS)));
    rolling.push(
      await during(async () => {
        for (const service of three.services) {
          const ended = once(service.process, 'exit');
          service.process.kill('SIGTERM');
          const [code] = (await ended) as [number | null];
          if (code !== 0) throw new Error(`a process ended with ${code}`);
          await service.restart();
        }
      }),
    );
  }
  stop.abort();
  await working;
  for (const [name, count] of stored) await requireAll(login, name, count);
  for (const client of [...clients, login]) client.close();
  progress(`repeated: ${repeats.connection} for a lost connection, ${repeats['not now']} for "not now"`);
  const ms = (histograms: readonly RecordableHistogram[], percentile: number): number[] =>
    histograms.map((one) => one.percentile(percentile) / 1_000);
  return PERCENTILES.map((percentile) => ({
    name: `Rolling restart of three processes under load, p${percentile} of a change`,
    unit: 'ms',
    rounds: { 'while they restart': ms(rolling, percentile), 'in quiet': ms(quiet, percentile) },
  }));
}

/** @throws when not every change that was answered is there, with one copy each */
async function requireAll(client: RestClient, name: string, count: number): Promise<void> {
  const query = { count: 'true', limit: '1' };
  const there = await client.send('GET', `/custom/${TYPE}`, { query, headers: { 'X-Target-Namespace': name } });
  if (Number(there.headers['x-total-count']) !== count)
    throw new Error(`${name} has ${there.headers['x-total-count']} of ${count} instances`);
  while ((await copiesIn(client, name)) < count) await sleep(20);
  if ((await copiesIn(client, name)) !== count) throw new Error(`${name} has ${COPY} twice`);
}
