// What it costs that Node speaks HTTP in place of uWebSockets.js: two services that differ in nothing else, in turn.

import { RestClient, type StartedService, startService } from '../conformance/client/index.ts';
import { compare, type Contestant, type Effort } from './compare.ts';
import { HTTP, httpRequest } from './load.ts';
import { expectOk, tokenOf } from './processes.ts';
import type { Figure } from './report/index.ts';

const CONNECTIONS = [1, 32, 256];
const PROPERTIES = { sensor: 'String', rate: 'Real', n: 'Integer', ok: 'Boolean', note: 'String' };

const instance = (n: number) => ({
  sensor: `s${n % 100}`,
  rate: n + 0.5,
  n,
  ok: n % 2 === 0,
  note: 'as measured at the outlet of the pump',
});

/** Each on a database of its own: one has one process without a bus. */
export async function front(effort: Effort): Promise<Figure[]> {
  await using uws = await startService({ args: ['--http', 'uws'] });
  await using node = await startService({ args: ['--http', 'node'] });
  const contestants = [await contestant('on Node', node), await contestant('on uWebSockets.js', uws)];
  const figures: Figure[] = [];
  for (const connections of CONNECTIONS) {
    const comparison = { name: `REST insert, ${connections} connections`, unit: 'requests/s', connections, mongodPid: 0 };
    figures.push(await compare(comparison, contestants, effort));
  }
  return figures;
}

async function contestant(name: string, { url, user, password, process }: StartedService): Promise<Contestant> {
  const client = new RestClient(url);
  await client.login(user, password);
  const properties = Object.fromEntries(Object.entries(PROPERTIES).map(([property, type]) => [property, { type }]));
  await expectOk(client, 'POST', '/types', { body: { name: 'BenchFront', properties } });
  client.close();
  const headers = { Authorization: `Bearer ${await tokenOf(url, user, password)}`, 'Content-Type': 'application/json' };
  const request = (n: number): string => httpRequest('POST', '/api/v1/resources/custom/BenchFront', headers, JSON.stringify(instance(n)));
  return { name, url, pid: process.pid ?? 0, protocol: HTTP, request };
}
