// What it costs that rules are exact: an insert and a rule's insert beside those who do the same without a journal, alone, together and in arrays;
// counters; recovery; journal and sandbox apart; and what a namespace notices of a neighbour at full load.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Collection, type Db, MongoClient } from 'mongodb';
import pino from 'pino';
import { RestClient, type StartedService, startService } from '../conformance/client/index.ts';
import { openEmbeddedMongod } from '../platform/mongod/index.ts';
import { compare, type Contestant, type Effort } from './compare.ts';
import { HTTP, httpRequest, type Load, load } from './load.ts';
import { type Probe, probe } from './probe.ts';
import { type Baseline, expectOk, startBaseline, tokenOf } from './processes.ts';
import { type Figure, progress } from './report.ts';

const CONNECTIONS = [1, 32, 256];
const ARRAY = 1_000;
/** Arrays under way at a time. */
const ARRAYS = 2;
const HOT_HITS = 4_000;
/** Enough to tell a rate that does not change. */
const MOST_BY_HAND = 2_000;
const COUNTERS = 10_000;
const OPEN_RUNS = 20_000;
const PER_RUNS = 100_000;
const FULL_LOAD = 256;
/** Until the load counts as full. */
const WARM_S = 0.5;
const NEIGHBOUR = 'benchneighbour';
const PASSWORD = 'correct horse battery staple 7';

const JSON_TYPE = { 'Content-Type': 'application/json' };
const TEXT_TYPE = { 'Content-Type': 'text/plain' };
const RULE = 'RULE benchAlert WHEN INSERT OCCURS ON BenchReading AS r INSERT BenchAlert(reading: r._id, at: now())';

const reading = (n: number) => ({ sensor: `s${n % 100}`, rate: n + 0.5, n });
const READING = { sensor: { type: 'String' }, rate: { type: 'Real' }, n: { type: 'Integer' } };
const ALERT = { reading: { type: 'String' }, at: { type: 'DateTime' } };

interface Bench {
  readonly service: StartedService;
  readonly client: RestClient;
  readonly token: string;
  readonly store: MongoClient;
  /** Of the service's namespace. */
  readonly db: Db;
  readonly mongodUri: string;
  readonly mongodPid: number;
  readonly effort: Effort;
}

/** Its parts, by the names that `--only` takes. */
const PARTS: Readonly<Record<string, (bench: Bench) => Promise<Figure | Figure[]>>> = {
  connections,
  arrays,
  counters,
  apart,
  neighbour,
  recovery,
};

/** @throws {Error} for a part that there isn't */
export async function durable(effort: Effort & { readonly only?: string | undefined }): Promise<Figure[]> {
  const { only } = effort;
  if (only !== undefined && !Object.hasOwn(PARTS, only))
    throw new Error(`There is no part '${only}'; there are ${Object.keys(PARTS).join(', ')}.`);
  const folder = await mkdtemp(join(tmpdir(), 'cascade-bench-'));
  const mongod = await openEmbeddedMongod({ dataDir: folder, log: pino({ level: 'silent' }) });
  const service = await startService({ args: ['--mongo', mongod.uri] });
  try {
    await using store = await new MongoClient(mongod.uri, { writeConcern: { w: 'majority', journal: true } }).connect();
    const client = new RestClient(service.url);
    await client.login(service.user, service.password);
    await expectOk(client, 'POST', '/types', { body: { name: 'BenchReading', properties: READING } });
    await expectOk(client, 'POST', '/types', { body: { name: 'BenchAlert', properties: ALERT } });
    await expectOk(client, 'POST', '/rules', { text: RULE, headers: TEXT_TYPE });
    const token = await tokenOf(service.url, service.user, service.password);
    const bench: Bench = {
      service,
      client,
      token,
      store,
      db: store.db('cascade_ns_main'),
      mongodUri: mongod.uri,
      mongodPid: mongod.pid ?? 0,
      effort,
    };
    const figures: Figure[] = [];
    for (const [name, part] of Object.entries(PARTS)) if (only === undefined || only === name) figures.push(...[await part(bench)].flat());
    return figures;
  } finally {
    await service[Symbol.asyncDispose]();
    await mongod[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
}

async function connections(bench: Bench): Promise<Figure[]> {
  const baselines: Baseline[] = [];
  try {
    for (const kind of ['bare', 'grouped'])
      baselines.push(await startBaseline(new URL('./durable-baseline.js', import.meta.url), [bench.mongodUri, kind]));
    const [bare, grouped] = baselines as [Baseline, Baseline];
    const contestants = [ours(bench, 'BenchReading'), baseline('bare handler', bare), baseline('group commit by hand', grouped)];
    const figures: Figure[] = [];
    for (const count of CONNECTIONS)
      figures.push(
        await compare(
          { ...bench, name: `Insert and a rule's insert, ${count} connections`, unit: 'inserts/s, rules done', connections: count },
          contestants,
          bench.effort,
        ),
      );
    return figures;
  } finally {
    for (const { process } of baselines) process.kill('SIGKILL');
  }
}

function ours({ service, token, db }: Bench, type: string): Contestant {
  const headers = { Authorization: `Bearer ${token}`, ...JSON_TYPE };
  return {
    name: 'cascade',
    url: service.url,
    pid: service.process.pid ?? 0,
    protocol: HTTP,
    request: (n) => httpRequest('POST', `/api/v1/resources/custom/${type}`, headers, JSON.stringify(reading(n))),
    settle: async () => sameCount(await instancesIn(db, 'BenchReading'), await instancesIn(db, 'BenchAlert')),
  };
}

const baseline = (name: string, { url, process }: Baseline): Contestant => ({
  name,
  url,
  pid: process.pid ?? 0,
  protocol: HTTP,
  request: (n) => httpRequest('POST', '/insert', JSON_TYPE, JSON.stringify(reading(n))),
});

/** The collection of a type's instances. */
async function instancesIn(db: Db, type: string): Promise<Collection> {
  const row = await db.collection('resources').findOne({ kind: 'types', name: type });
  return db.collection(String(row?.['collection']));
}

/** Waits until each reading has its alert. */
async function sameCount(readings: Collection, alerts: Collection): Promise<void> {
  while ((await readings.estimatedDocumentCount()) !== (await alerts.estimatedDocumentCount())) await sleep(5);
}

/** Arrays of 1,000, beside the driver's insertMany of as many: no request, no rule. */
async function arrays(bench: Bench): Promise<Figure> {
  const { effort, store, mongodPid } = bench;
  const name = `Arrays of ${ARRAY.toLocaleString('en')} and a rule's insert for each`;
  const one = ours(bench, 'BenchReading');
  const cascade: Contestant = {
    ...one,
    each: ARRAY,
    request: (n) =>
      httpRequest(
        'POST',
        '/api/v1/resources/custom/BenchReading',
        { Authorization: `Bearer ${bench.token}`, ...JSON_TYPE },
        JSON.stringify(Array.from({ length: ARRAY }, (_, i) => reading(n * ARRAY + i))),
      ),
  };
  const alone: number[] = [];
  const rounds: Record<string, readonly number[]> = { 'insertMany alone': alone };
  const figure = await compare({ name, unit: 'instances/s, rules done', connections: ARRAYS, mongodPid }, [cascade], effort);
  const readings = store.db('bench_durable_baseline').collection('arrays');
  for (let round = 0; round <= effort.rounds; round++) {
    progress(`${name}: insertMany alone, round ${round} of ${effort.rounds}`);
    let count = 0;
    const begun = performance.now();
    const insert = async (): Promise<void> => {
      while (performance.now() - begun < effort.seconds * (round === 0 ? 250 : 1_000)) {
        const some = Array.from({ length: ARRAY }, (_, i) => reading(i));
        await readings.insertMany(some, { ordered: false });
        count += ARRAY;
      }
    };
    await Promise.all(Array.from({ length: ARRAYS }, insert));
    if (round > 0) alone.push(count / ((performance.now() - begun) / 1_000));
  }
  return { ...figure, rounds: { ...figure.rounds, ...rounds } };
}

/** A rule counts what is inserted: all on one instance, and spread over many; beside an insert and a `$inc`, each awaited, 32 at a time. */
async function counters({ client, db, store, effort }: Bench): Promise<Figure[]> {
  await expectOk(client, 'POST', '/types', {
    body: { name: 'BenchCounter', properties: { k: { type: 'String', indexed: true }, n: { type: 'Integer' } } },
  });
  await expectOk(client, 'POST', '/types', { body: { name: 'BenchHit', properties: { k: { type: 'String' } } } });
  for (let from = 0; from < COUNTERS; from += ARRAY)
    await post(
      client,
      'BenchCounter',
      Array.from({ length: ARRAY }, (_, i) => ({ k: `k${from + i}`, n: 0 })),
    );
  await expectOk(client, 'POST', '/rules', {
    text: `RULE benchCount WHEN INSERT OCCURS ON BenchHit AS h
SELECT ONE FROM BenchCounter AS c WHERE k == h.k
UPDATE BenchCounter(n: c.n + 1) WHERE _id == c._id`,
    headers: TEXT_TYPE,
  });
  const counted = await instancesIn(db, 'BenchCounter');
  const sum = async (): Promise<number> => {
    const [found] = await counted.aggregate([{ $group: { _id: null, n: { $sum: '$n' } } }]).toArray();
    return Number(found?.['n'] ?? 0);
  };
  const cascade = async (count: number, over: number): Promise<number> => {
    const before = await sum();
    const begun = performance.now();
    for (let from = 0; from < count; from += ARRAY)
      await post(
        client,
        'BenchHit',
        Array.from({ length: Math.min(ARRAY, count - from) }, (_, i) => ({ k: `k${(from + i) % over}` })),
      );
    while ((await sum()) < before + count) await sleep(20);
    return count / ((performance.now() - begun) / 1_000);
  };
  const plain = store.db('bench_durable_baseline');
  await plain.collection('counters').insertMany(Array.from({ length: COUNTERS }, (_, i) => ({ k: `k${i}`, n: 0 })));
  await plain.collection('counters').createIndex({ k: 1 });
  const byHand = async (count: number, over: number): Promise<number> => {
    const begun = performance.now();
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < count) {
        const k = `k${next++ % over}`;
        await plain.collection('hits').insertOne({ k });
        await plain.collection('counters').updateOne({ k }, { $inc: { n: 1 } });
      }
    };
    await Promise.all(Array.from({ length: 32 }, work));
    return count / ((performance.now() - begun) / 1_000);
  };
  const spread = Math.round((COUNTERS * Math.min(effort.seconds, 2)) / 2);
  const figures: Figure[] = [];
  for (const [name, count, over] of [
    ['Counters of a rule, all on one hot instance', HOT_HITS, 1],
    [`Counters of a rule, on ${COUNTERS.toLocaleString('en')} instances`, spread, COUNTERS],
  ] as const) {
    const own: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < effort.rounds; round++) {
      progress(`${name}, round ${round + 1} of ${effort.rounds}`);
      own.push(await cascade(count, over));
      bare.push(await byHand(Math.min(count, MOST_BY_HAND), over));
    }
    figures.push({ name, unit: 'counted/s', rounds: { cascade: own, 'insert and $inc, awaited': bare } });
  }
  return figures;
}

/** The same insert where nothing follows, where a rule waits for a second event (a row, no run), and where a rule runs that does nothing. */
async function apart(bench: Bench): Promise<Figure> {
  const { client, mongodPid, effort } = bench;
  for (const name of ['BenchPlain', 'BenchJournaled', 'BenchRun'])
    await expectOk(client, 'POST', '/types', { body: { name, properties: READING } });
  await expectOk(client, 'POST', '/rules', {
    text: `RULE benchWaits WHEN INSERT OCCURS ON BenchJournaled AS a BEFORE EVENT OCCURS ON "/topics/bench/never" AS b WITHIN 3 seconds
CONSTRAIN TO a.value.n == b.value.n
var n = a.value.n`,
    headers: TEXT_TYPE,
  });
  await expectOk(client, 'POST', '/rules', {
    text: 'RULE benchIdle WHEN INSERT OCCURS ON BenchRun AS r var n = r.n',
    headers: TEXT_TYPE,
  });
  const kinds = { 'no rule': 'BenchPlain', 'journal alone': 'BenchJournaled', 'journal and sandbox': 'BenchRun' };
  const contestants = Object.entries(kinds).map(([name, type]): Contestant => {
    const { settle: _, ...one } = ours(bench, type);
    return { ...one, name };
  });
  const comparison = { name: 'Journal and sandbox apart, 256 connections', unit: 'inserts/s', connections: FULL_LOAD, mongodPid };
  const figure = await compare(comparison, contestants, effort);
  await client.send('DELETE', '/rules/benchWaits');
  return figure;
}

/**
 * What a namespace with one request under way notices of another one at full load; beside it what a bare handler notices, which shares nothing with
 * the service but the machine and the store.
 */
async function neighbour({ service, client, token, effort, mongodUri }: Bench): Promise<Figure[]> {
  const username = `admin__${NEIGHBOUR}`;
  await expectOk(client, 'POST', '/namespaces', { body: { namespace: NEIGHBOUR, username, password: PASSWORD } });
  const other = new RestClient(service.url);
  await other.login(username, PASSWORD);
  await expectOk(other, 'POST', '/types', { body: { name: 'BenchReading', properties: READING } });
  await expectOk(other, 'POST', '/types', { body: { name: 'BenchAlert', properties: ALERT } });
  await expectOk(other, 'POST', '/rules', { text: RULE, headers: TEXT_TYPE });
  const insert = (login: string, n: number): string =>
    httpRequest(
      'POST',
      '/api/v1/resources/custom/BenchReading',
      { Authorization: `Bearer ${login}`, ...JSON_TYPE },
      JSON.stringify(reading(n)),
    );
  const noisy = (n: number): string => insert(other.token ?? '', n);
  const bare = await startBaseline(new URL('./durable-baseline.js', import.meta.url), [mongodUri, 'bare']);
  const { seconds } = effort;
  const probes: Record<string, Probe> = {
    '': { url: service.url, request: insert(token, 0), seconds },
    'bare handler ': { url: bare.url, request: httpRequest('POST', '/insert', JSON_TYPE, JSON.stringify(reading(0))), seconds },
  };
  const rounds: Record<string, number[]> = { 'beside it': [], 'in quiet': [], 'bare handler beside it': [], 'bare handler in quiet': [] };
  const loads: Record<string, number[]> = { 'the load, beside the probe': [], 'the load alone': [] };
  const full = (): Promise<Load> =>
    load({ url: service.url, protocol: HTTP, connections: FULL_LOAD, seconds: seconds + WARM_S, request: noisy });
  try {
    // The first round makes all of it warm and does not count.
    for (let round = 0; round <= effort.rounds; round++)
      for (const [who, one] of Object.entries(probes)) {
        progress(`Noisy neighbour: ${who || 'cascade '}in quiet and beside it, round ${round} of ${effort.rounds}`);
        const quiet = await probe(one);
        const noise = full();
        await sleep(WARM_S * 1_000);
        const beside = await probe(one);
        const { requests, seconds: took } = await noise;
        if (round === 0) continue;
        rounds[`${who}in quiet`]?.push(quiet);
        rounds[`${who}beside it`]?.push(beside);
        loads[who ? 'the load alone' : 'the load, beside the probe']?.push(requests / took);
      }
  } finally {
    bare.process.kill('SIGKILL');
    other.close();
  }
  return [
    { name: 'A neighbour at full load', unit: 'p99 ms of an insert with a rule', rounds },
    { name: 'What the neighbour itself gets done', unit: 'inserts/s', rounds: loads },
  ];
}

/** The service is killed with runs open; how long until a new one has done them all. */
async function recovery({ service, client, db, effort }: Bench): Promise<Figure[]> {
  const alerts = await instancesIn(db, 'BenchAlert');
  const readings = await instancesIn(db, 'BenchReading');
  const ready: number[] = [];
  const done: number[] = [];
  for (let round = 0; round < Math.min(effort.rounds, 2); round++) {
    progress(`Recovery: making open runs, round ${round + 1}`);
    await sameCount(readings, alerts);
    const arrays = Array.from({ length: OPEN_RUNS / ARRAY }, (_, k) =>
      post(
        client,
        'BenchReading',
        Array.from({ length: ARRAY }, (_, i) => reading(k * ARRAY + i)),
      ),
    );
    await Promise.all(arrays);
    await service.kill();
    const open = (await readings.countDocuments()) - (await alerts.countDocuments());
    progress(`Recovery: ${open} open runs, round ${round + 1}`);
    const begun = performance.now();
    await service.restart();
    const started = (performance.now() - begun) / 1_000;
    ready.push(started);
    while ((await alerts.countDocuments()) < (await readings.countDocuments())) await sleep(20);
    const all = (performance.now() - begun) / 1_000;
    done.push(started + (all - started) * (PER_RUNS / Math.max(1, open)));
  }
  return [
    { name: 'After kill -9 with open runs: until requests are answered', unit: 's', rounds: { cascade: ready } },
    {
      name: `After kill -9: until ${PER_RUNS.toLocaleString('en')} open runs are done, start included`,
      unit: 's',
      rounds: { cascade: done },
    },
  ];
}

async function post(client: RestClient, type: string, instances: readonly object[]): Promise<void> {
  await expectOk(client, 'POST', `/custom/${type}`, { text: JSON.stringify(instances), headers: JSON_TYPE });
}
