// What it costs that rules are exact: an insert and a rule's insert beside those who do the same without a journal, alone, together and in arrays;
// counters; recovery; journal and sandbox apart; and what a namespace notices of a neighbour at full load.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Collection, MongoClient } from 'mongodb';
import pino from 'pino';
import { RestClient, startService } from '../../conformance/client/index.ts';
import { openEmbeddedMongod } from '../../platform/mongod/index.ts';
import { compare, type Contestant, type Effort } from '../compare.ts';
import { HTTP, httpRequest, type Load, load } from '../load.ts';
import { type Probe, probe } from '../probe.ts';
import { type Baseline, expectOk, startBaseline, tokenOf } from '../processes.ts';
import { type Aim, type Figure, progress, timesAsMuch } from '../report/index.ts';
import { steadily } from '../steady.ts';
import { counters } from './counters.ts';
import { ARRAY, baselineOf, type Bench, inserting, instancesIn, JSON_TYPE, post, TEXT_TYPE } from './shared.ts';

const CONNECTIONS = [1, 32, 256];
/** Arrays under way at a time. */
const ARRAYS = 2;
const OPEN_RUNS = 20_000;
const PER_RUNS = 100_000;
const FULL_LOAD = 256;
/** Until the load counts as full. */
const WARM_S = 0.5;
const NEIGHBOUR = 'benchneighbour';
const PASSWORD = 'correct horse battery staple 7';

const RULE = 'RULE benchAlert WHEN INSERT OCCURS ON BenchReading AS r INSERT BenchAlert(reading: r._id, at: now())';

const reading = (n: number) => ({ sensor: `s${n % 100}`, rate: n + 0.5, n });
const READING = { sensor: { type: 'String' }, rate: { type: 'Real' }, n: { type: 'Integer' } };
const ALERT = { reading: { type: 'String' }, at: { type: 'DateTime' } };

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
      baselines.push(await startBaseline(new URL('./baseline.js', import.meta.url), [bench.mongodUri, kind]));
    const [bare, grouped] = baselines as [Baseline, Baseline];
    const contestants = [
      ours(bench, 'BenchReading'),
      baselineOf('bare handler', bare, reading),
      baselineOf('group commit by hand', grouped, reading),
    ];
    const figures: Figure[] = [];
    for (const count of CONNECTIONS) {
      const series = `Insert and a rule's insert`;
      const comparison = { ...bench, series, name: `${series}, ${count} connections`, unit: 'inserts/s, rules done', connections: count };
      const figure = await compare(comparison, contestants, bench.effort);
      figures.push({ ...figure, aims: aimsOf(figure, count) });
      if (count > 1) figures.push(await steadily(comparison, contestants, bench.effort, figure));
    }
    return figures;
  } finally {
    for (const { process } of baselines) process.kill('SIGKILL');
  }
}

function aimsOf({ rounds, besides }: Figure, connections: number): Aim[] {
  const p50 = (name: string): number => besides?.[name]?.['p50 ms'] ?? Number.NaN;
  if (connections === 1)
    return [{ what: 'p50, cascade / bare handler', is: p50('cascade') / p50('bare handler'), side: 'atMost', bound: 1.5 }];
  if (connections < FULL_LOAD) return [];
  return [...timesAsMuch(rounds, 'cascade', 'group commit by hand', 0.6), ...timesAsMuch(rounds, 'cascade', 'bare handler', 7)];
}

const ours = (bench: Bench, type: string): Contestant => ({
  ...inserting(bench, type, reading),
  settle: async () => sameCount(await instancesIn(bench.db, 'BenchReading'), await instancesIn(bench.db, 'BenchAlert')),
});

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
  const all = { ...figure.rounds, ...rounds };
  return { ...figure, rounds: all, aims: timesAsMuch(all, 'cascade', 'insertMany alone', 0.35) };
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
  const bare = await startBaseline(new URL('./baseline.js', import.meta.url), [mongodUri, 'bare']);
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
    {
      name: 'A neighbour at full load',
      unit: 'p99 ms of an insert with a rule',
      rounds,
      aims: timesAsMuch(rounds, 'beside it', 'in quiet', 2, 'atMost'),
    },
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
