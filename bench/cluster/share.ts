// What three processes do beside one, when every namespace has a rule: each request at the owner of its namespace, or none of them. All are on one machine, so that
// three processes share the processors that one has to itself.
import { setTimeout as sleep } from 'node:timers/promises';
import { RestClient } from '../../conformance/client/index.ts';
import { openInstallation } from '../../scripts/cluster/index.ts';
import type { Effort } from '../compare.ts';
import { HTTP, httpRequest, load } from '../load.ts';
import { cpuSeconds } from '../processes.ts';
import { type Figure, median, progress } from '../report/index.ts';
import { COPY, JSON_TYPE, namesOf, PASSWORD, prepare, TYPE } from './prepare.ts';

const NAMESPACES = 12;
const CONNECTIONS = 240;
/** Code is compiled while it warms. */
const LEAST_SECONDS = 4;
const PATH = `/api/v1/resources/custom/${TYPE}`;

/** Where the requests of some namespaces go. */
interface Route {
  readonly url: string;
  readonly namespaces: readonly string[];
}
interface Contestant {
  readonly name: string;
  readonly pids: readonly number[];
  readonly mongodPid: number;
  readonly client: RestClient;
  readonly routes: readonly Route[];
}

export async function share({ rounds: count, seconds }: Effort): Promise<Figure> {
  const before = (mongoUri: string): Promise<void> => prepare(mongoUri, NAMESPACES, NAMESPACES);
  await using alone = await openInstallation(1, 'any', before);
  await using three = await openInstallation(3, 'any', before);
  if (!alone || !three) throw new Error('nats-server is not installed');
  const names = namesOf(NAMESPACES);
  const clients = await Promise.all([alone, three].map(({ services }) => loggedIn(services[0]!.url)));
  const [one, several] = clients as [RestClient, RestClient];
  for (const name of names) for (const client of [one, several]) await copiesIn(client, name); // opens it
  const owners = await Promise.all(names.map((name) => three.ownerOf(name)));
  const routesBy = (at: (owner: number) => number): Route[] =>
    three.services.map(({ url }, nth) => ({ url, namespaces: names.filter((_, n) => at(owners[n]!) === nth) }));
  const pids = three.services.map(({ process }) => process.pid ?? 0);
  const shared = { pids, mongodPid: three.mongodPid, client: several };
  const contestants: Contestant[] = [
    { name: 'three, at the owners', ...shared, routes: routesBy((owner) => owner) },
    { name: 'three, none at the owner', ...shared, routes: routesBy((owner) => (owner + 1) % 3) },
    {
      name: 'one process',
      pids: [alone.services[0]!.process.pid ?? 0],
      mongodPid: alone.mongodPid,
      client: one,
      routes: [{ url: alone.services[0]!.url, namespaces: names }],
    },
  ];
  const rounds: Record<string, number[]> = {};
  const noted: Record<string, { p50: number[]; cpu: number[]; mongod: number[] }> = {};
  for (let round = 0; round <= count; round++)
    for (const contestant of contestants) {
      progress(`events of ${NAMESPACES} namespaces: ${contestant.name}, ${round === 0 ? 'warming' : `round ${round} of ${count}`}`);
      const result = await measured(contestant, names, Math.max(seconds, LEAST_SECONDS));
      if (round === 0) continue;
      (rounds[contestant.name] ??= []).push(result.perSecond);
      const notes = (noted[contestant.name] ??= { p50: [], cpu: [], mongod: [] });
      for (const key of ['p50', 'cpu', 'mongod'] as const) notes[key].push(result[key]);
    }
  for (const client of clients) client.close();
  const besides = Object.fromEntries(
    Object.entries(noted).map(([name, { p50, cpu, mongod }]) => [
      name,
      { 'p50 ms': median(p50), 'CPU s per 1,000': median(cpu), 'mongod CPU s per 1,000': median(mongod) },
    ]),
  );
  return {
    name: `Inserts and what their rules insert, ${NAMESPACES} namespaces, ${CONNECTIONS} connections`,
    unit: 'inserts/s',
    rounds,
    besides,
  };
}

export async function loggedIn(url: string): Promise<RestClient> {
  const client = new RestClient(url, 32);
  await client.login('bench', PASSWORD);
  return client;
}

/** How many instances the rule of a namespace has inserted. */
export async function copiesIn(client: RestClient, namespace: string): Promise<number> {
  const { status, headers, text } = await client.send('GET', `/custom/${COPY}`, {
    query: { count: 'true', limit: '1' },
    headers: { 'X-Target-Namespace': namespace },
  });
  if (status !== 200) throw new Error(`${namespace}: ${status} ${text}`);
  return Number(headers['x-total-count']);
}

const copiesOf = async (client: RestClient, names: readonly string[]): Promise<number> =>
  (await Promise.all(names.map((name) => copiesIn(client, name)))).reduce((sum, n) => sum + n, 0);

interface Measured {
  readonly perSecond: number;
  readonly p50: number;
  readonly cpu: number;
  readonly mongod: number;
}

/** From the first request to the last copy. */
async function measured({ pids, mongodPid, client, routes }: Contestant, names: readonly string[], seconds: number): Promise<Measured> {
  const token = client.token ?? '';
  const cpu = async (): Promise<number> => (await Promise.all(pids.map(cpuSeconds))).reduce((sum, one) => sum + one, 0);
  const there = await copiesOf(client, names);
  const [cpuBefore, mongodBefore, begun] = [await cpu(), await cpuSeconds(mongodPid), performance.now()];
  const loads = routes
    .filter(({ namespaces }) => namespaces.length > 0)
    .map(({ url, namespaces }) => {
      const request = (n: number): string => {
        const headers = { Authorization: `Bearer ${token}`, 'X-Target-Namespace': namespaces[n % namespaces.length]!, ...JSON_TYPE };
        return httpRequest('POST', PATH, headers, `{"n":${n}}`);
      };
      const connections = Math.round((CONNECTIONS * namespaces.length) / names.length);
      return load({ url, protocol: HTTP, connections, seconds, request });
    });
  const results = await Promise.all(loads);
  const requests = results.reduce((sum, one) => sum + one.requests, 0);
  while ((await copiesOf(client, names)) < there + requests) await sleep(100);
  const took = (performance.now() - begun) / 1_000;
  return {
    perSecond: requests / took,
    p50: median(results.map((one) => one.p50)),
    cpu: ((await cpu()) - cpuBefore) * (1_000 / requests),
    mongod: ((await cpuSeconds(mongodPid)) - mongodBefore) * (1_000 / requests),
  };
}
