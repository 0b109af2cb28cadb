// REST inserts of a type with one WHEN rule that inserts, at 1, 32 and 256 connections; beside a bare handler that does two awaited
// insertOne on the same mongod. The rules of ours run after the answer, so each round ends when the last of them has run.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import pino from 'pino';
import { RestClient, startService } from '../conformance/client/index.ts';
import { openEmbeddedMongod } from '../runtime/mongod/index.ts';
import { type Baseline, cpuSeconds, expectOk, startBaseline, tokenOf } from './processes.ts';
import { type Figure, median } from './report.ts';

const ROUNDS = 4;
const SECONDS = 4;
const CONNECTIONS = [1, 32, 256];

interface Contestant {
  readonly name: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly pid: number;
  /** Waits until what the inserts set going is done. */
  settle(): Promise<void>;
}

export async function rest(): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'cascade-bench-'));
  const mongod = await openEmbeddedMongod({ dataDir: folder, log: pino({ level: 'silent' }) });
  const service = await startService({ args: ['--mongo', mongod.uri] });
  let baseline: Baseline | undefined;
  try {
    const client = new RestClient(service.url);
    await client.login(service.user, service.password);
    await expectOk(client, 'POST', '/types', {
      body: { name: 'BenchReading', properties: { sensor: { type: 'String' }, rate: { type: 'Real' }, n: { type: 'Integer' } } },
    });
    await expectOk(client, 'POST', '/types', {
      body: { name: 'BenchAlert', properties: { reading: { type: 'String' }, at: { type: 'DateTime' } } },
    });
    await expectOk(client, 'POST', '/rules', {
      text: 'RULE benchAlert WHEN INSERT OCCURS ON BenchReading AS r INSERT BenchAlert(reading: r._id, at: now())',
    });
    const token = await tokenOf(service.url, service.user, service.password);
    baseline = await startBaseline('./rest-baseline.js', [mongod.uri]);
    const contestants: Contestant[] = [
      {
        name: 'cascade',
        url: `${service.url}/api/v1/resources/custom/BenchReading`,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        pid: service.process.pid ?? 0,
        settle: () => settled(client),
      },
      {
        name: 'bare handler',
        url: `${baseline.url}/insert`,
        headers: { 'content-type': 'application/json' },
        pid: baseline.process.pid ?? 0,
        settle: async () => undefined,
      },
    ];
    const figures: Figure[] = [];
    for (const connections of CONNECTIONS) figures.push(await compare(contestants, connections, mongod.pid ?? 0));
    return figures;
  } finally {
    baseline?.process.kill('SIGKILL');
    await service[Symbol.asyncDispose]();
    await mongod[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
}

async function compare(contestants: readonly Contestant[], connections: number, mongod: number): Promise<Figure> {
  const rounds: Record<string, number[]> = {};
  const latencies: Record<string, { p50: number[]; p99: number[]; cpu: number[]; mongod: number[] }> = {};
  for (let round = 0; round < ROUNDS; round++)
    for (const one of contestants) {
      const before = { own: await cpuSeconds(one.pid), store: await cpuSeconds(mongod) };
      const begun = performance.now();
      const result = await autocannon({
        url: one.url,
        connections,
        duration: SECONDS,
        method: 'POST',
        headers: one.headers,
        body: JSON.stringify({ sensor: 's1', rate: 12.5, n: 7 }),
      });
      if (result.non2xx > 0 || result.errors > 0) throw new Error(`${one.name}: ${result.non2xx} refusals, ${result.errors} errors`);
      await one.settle();
      const seconds = (performance.now() - begun) / 1_000;
      const per1000 = 1_000 / result['2xx'];
      (rounds[one.name] ??= []).push(result['2xx'] / seconds);
      const noted = (latencies[one.name] ??= { p50: [], p99: [], cpu: [], mongod: [] });
      noted.p50.push(result.latency.p50);
      noted.p99.push(result.latency.p99);
      noted.cpu.push(((await cpuSeconds(one.pid)) - before.own) * per1000);
      noted.mongod.push(((await cpuSeconds(mongod)) - before.store) * per1000);
    }
  const besides = Object.fromEntries(
    Object.entries(latencies).map(([name, { p50, p99, cpu, mongod: store }]) => [
      name,
      { 'p50 ms': median(p50), 'p99 ms': median(p99), 'CPU s per 1,000': median(cpu), 'mongod CPU s per 1,000': median(store) },
    ]),
  );
  return { name: `REST inserts with one rule that inserts, ${connections} connections`, unit: 'inserts/s, rules done', rounds, besides };
}

/** Waits until as many alerts are there as readings. */
async function settled(client: RestClient): Promise<void> {
  const count = async (type: string): Promise<string> => {
    const reply = await client.send('GET', `/custom/${type}`, { query: { count: 'true', limit: '1', props: ['_id'] } });
    return reply.headers['x-total-count'] ?? '';
  };
  while ((await count('BenchReading')) !== (await count('BenchAlert'))) await sleep(20);
}
