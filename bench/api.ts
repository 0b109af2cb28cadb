// The three requests that an API lives by – insert, select by key, select by an indexed condition of 20 instances – over REST and over
// WebSocket, at 1, 32 and 256 connections. Beside them on the same mongod, in turn: a bare uWebSockets.js handler over the driver, Fastify
// over the driver, and for inserts a group commit made by hand. What they do not do, and the service does: logins, types, rules.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import pino from 'pino';
import { RestClient, startService } from '../conformance/client/index.ts';
import { openEmbeddedMongod } from '../platform/mongod/index.ts';
import { compare, type Effort } from './compare.ts';
import { HTTP, httpRequest, type Protocol, webSocket } from './load.ts';
import { type Baseline, expectOk, startBaseline, tokenOf } from './processes.ts';
import { type Figure, timesAsMuch } from './report/index.ts';
import { steadily } from './steady.ts';

const CONNECTIONS = [1, 32, 256];
const INSTANCES = 2_000;
const SENSORS = 100;

const KINDS = ['insert', 'select by key', 'select 20 where'] as const;
type Kind = (typeof KINDS)[number];

interface Able {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  readonly protocol: Protocol;
  readonly requests: Partial<Record<Kind, (n: number) => string>>;
}

/** The n-th instance, in all stores the same. */
const instance = (n: number) => ({
  sensor: `s${n % SENSORS}`,
  site: `site ${n % 7}`,
  rate: n + 0.5,
  n,
  ok: n % 2 === 0,
  unit: 'mm/s',
  low: 12.25,
  high: 99.75,
  note: 'as measured at the outlet of the pump',
  batch: `b${n % 13}`,
});

const TYPES: Readonly<Record<string, string>> = { rate: 'Real', n: 'Integer', ok: 'Boolean', low: 'Real', high: 'Real' };

export async function api(effort: Effort): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'cascade-bench-'));
  const mongod = await openEmbeddedMongod({ dataDir: folder, log: pino({ level: 'silent' }) });
  const service = await startService({ args: ['--mongo', mongod.uri] });
  const baselines: Baseline[] = [];
  try {
    const client = new RestClient(service.url);
    await client.login(service.user, service.password);
    const properties = Object.fromEntries(Object.keys(instance(0)).map((name) => [name, { type: TYPES[name] ?? 'String' }]));
    await expectOk(client, 'POST', '/types', {
      body: { name: 'BenchItem', properties: { ...properties, sensor: { type: 'String', indexed: true } } },
    });
    await expectOk(client, 'POST', '/types', { body: { name: 'BenchNew', properties } });
    const all = JSON.stringify(Array.from({ length: INSTANCES }, (_, n) => instance(n)));
    const reply = await client.send('POST', '/custom/BenchItem', { text: all, headers: JSON_TYPE });
    if (reply.status !== 200) throw new Error(reply.text);
    const ownIds = (JSON.parse(reply.text) as { _id: string }[]).map(({ _id }) => _id);
    const otherIds = await fillBaseline(mongod.uri);
    for (const kind of ['bare', 'grouped', 'fastify'])
      baselines.push(await startBaseline(new URL('./api-baseline.js', import.meta.url), [mongod.uri, kind]));
    const [bare, grouped, fastify] = baselines as [Baseline, Baseline, Baseline];
    const token = await tokenOf(service.url, service.user, service.password);
    const own = { name: 'cascade', url: service.url, pid: service.process.pid ?? 0 };
    const rest: Able[] = [
      { ...own, protocol: HTTP, requests: restRequests('/api/v1/resources/custom', token, ownIds) },
      restBaseline('bare handler', bare, otherIds),
      restBaseline('Fastify', fastify, otherIds),
      { ...restBaseline('group commit by hand', grouped, otherIds), requests: { insert: insertBesides } },
    ];
    const socket: Able[] = [
      { ...own, protocol: webSocket('/api/v1/wsock/websocket', loginMessage(token)), requests: socketRequests(ownIds) },
      socketBaseline('bare handler', bare, otherIds, KINDS),
      socketBaseline('group commit by hand', grouped, otherIds, ['insert']),
    ];
    const figures: Figure[] = [];
    for (const [name, contestants] of [['REST', rest] as const, ['WebSocket', socket] as const])
      for (const kind of KINDS)
        for (const connections of CONNECTIONS) {
          const able = contestants.flatMap(({ requests, ...one }) => (requests[kind] ? [{ ...one, request: requests[kind] }] : []));
          const [series, mongodPid] = [`${name} ${kind}`, mongod.pid ?? 0];
          const comparison = { series, name: `${series}, ${connections} connections`, unit: 'requests/s', connections, mongodPid };
          const figure = await compare(comparison, able, effort);
          const isFull = connections === CONNECTIONS.at(-1);
          const aims = kind === 'insert' && isFull ? timesAsMuch(figure.rounds, 'cascade', 'group commit by hand', 0.8) : [];
          figures.push({ ...figure, aims });
          if (isFull && contestants === rest) figures.push(await steadily(comparison, able, effort, figure));
        }
    return figures;
  } finally {
    for (const { process } of baselines) process.kill('SIGKILL');
    await service[Symbol.asyncDispose]();
    await mongod[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The same instances and index for those who have no types. */
async function fillBaseline(uri: string): Promise<string[]> {
  await using client = await new MongoClient(uri, { writeConcern: { w: 'majority' } }).connect();
  const readings = client.db('bench_api_baseline').collection('readings');
  await readings.createIndex({ sensor: 1 });
  const { insertedIds } = await readings.insertMany(Array.from({ length: INSTANCES }, (_, n) => instance(n)));
  return Object.values(insertedIds).map(String);
}

const JSON_TYPE = { 'Content-Type': 'application/json' };
const picked = (ids: readonly string[], n: number): string => ids[(n * 7919) % ids.length] ?? '';

function restRequests(path: string, token: string, ids: readonly string[]): Able['requests'] {
  const headers = { Authorization: `Bearer ${token}` };
  const where = (sensor: string): string => encodeURIComponent(JSON.stringify({ sensor }));
  return {
    insert: (n) => httpRequest('POST', `${path}/BenchNew`, { ...headers, ...JSON_TYPE }, JSON.stringify(instance(n))),
    'select by key': (n) => httpRequest('GET', `${path}/BenchItem/${picked(ids, n)}`, headers),
    'select 20 where': (n) => httpRequest('GET', `${path}/BenchItem?where=${where(`s${n % SENSORS}`)}`, headers),
  };
}

/** With a sensor that no `where` asks for, so that what is selected stays the same 20. */
const insertBesides = (n: number): string => httpRequest('POST', '/insert', JSON_TYPE, JSON.stringify({ ...instance(n), sensor: 'new' }));

const restBaseline = (name: string, { url, process }: Baseline, ids: readonly string[]): Able => ({
  name,
  url,
  pid: process.pid ?? 0,
  protocol: HTTP,
  requests: {
    insert: insertBesides,
    'select by key': (n) => httpRequest('GET', `/one/${picked(ids, n)}`, {}),
    'select 20 where': (n) => httpRequest('GET', `/where/s${n % SENSORS}`, {}),
  },
});

const loginMessage = (token: string): string => JSON.stringify({ op: 'validate', resourceName: 'system.credentials', object: token });

function socketRequests(ids: readonly string[]): Able['requests'] {
  return {
    insert: (n) => JSON.stringify({ op: 'insert', resourceName: 'BenchNew', object: instance(n), parameters: { requestId: '1' } }),
    'select by key': (n) => JSON.stringify({ op: 'select', resourceName: 'BenchItem', resourceId: picked(ids, n) }),
    'select 20 where': (n) =>
      JSON.stringify({ op: 'select', resourceName: 'BenchItem', parameters: { where: { sensor: `s${n % SENSORS}` } } }),
  };
}

function socketBaseline(name: string, { url, process }: Baseline, ids: readonly string[], kinds: readonly Kind[]): Able {
  const all: Record<Kind, (n: number) => string> = {
    insert: (n) => JSON.stringify({ op: 'insert', object: { ...instance(n), sensor: 'new' } }),
    'select by key': (n) => JSON.stringify({ op: 'one', id: picked(ids, n) }),
    'select 20 where': (n) => JSON.stringify({ op: 'where', sensor: `s${n % SENSORS}` }),
  };
  const requests = Object.fromEntries(kinds.map((kind) => [kind, all[kind]]));
  return { name, url, pid: process.pid ?? 0, protocol: webSocket('/ws'), requests };
}
