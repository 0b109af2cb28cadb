// What the hop to the owner of a namespace costs: the same requests at one process alone, and, of three on one database and one NATS, at the owner and at
// a process that has to forward them.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { RestClient, startService } from '../../conformance/client/index.ts';
import { openEmbeddedMongod } from '../../platform/mongod/index.ts';
import { openInstallation } from '../../scripts/cluster/index.ts';
import { compare, type Contestant, type Effort } from '../compare.ts';
import { HTTP, httpRequest } from '../load.ts';
import { expectOk } from '../processes.ts';
import type { Figure } from '../report/index.ts';

const JSON_TYPE = { 'Content-Type': 'application/json' };
const PATH = '/api/v1/resources/custom/BenchHop';
const KINDS = ['insert', 'select by key'] as const;

interface Place {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  readonly token: string;
  readonly id: string;
}

/** @throws Error where nats-server is not installed */
export async function hop(effort: Effort): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'cascade-bench-'));
  const mongod = await openEmbeddedMongod({ dataDir: folder, log: pino({ level: 'silent' }) });
  const alone = await startService({ args: ['--mongo', mongod.uri, '--lanes', '1'] });
  const three = await openInstallation(3);
  try {
    if (!three) throw new Error('nats-server is not installed');
    const client = new RestClient(alone.url);
    await client.login(alone.user, alone.password);
    const owner = await three.ownerOf('main');
    const [first] = three.clients as [RestClient];
    const places = [await placeOf('one process', client, alone.process.pid, await prepared(client))];
    const id = await prepared(first);
    for (const [name, at] of [
      ['three, the owner is asked', owner],
      ['three, another one is asked', (owner + 1) % 3],
    ] as const)
      places.push(await placeOf(name, three.clients[at]!, three.services[at]!.process.pid, id));
    const figures: Figure[] = [];
    for (const connections of [1, 64])
      for (const kind of KINDS) {
        const contestants = places.map((place) => contestant(place, kind));
        const comparison = { name: `REST ${kind}, ${connections} connections`, unit: 'requests/s', connections };
        figures.push(await compare({ ...comparison, mongodPid: mongod.pid ?? 0 }, contestants, effort));
      }
    return figures;
  } finally {
    await three?.[Symbol.asyncDispose]();
    await alone[Symbol.asyncDispose]();
    await mongod[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
}

/** @returns the id of an instance */
async function prepared(client: RestClient): Promise<string> {
  await expectOk(client, 'POST', '/types', {
    text: JSON.stringify({ name: 'BenchHop', properties: { n: { type: 'Integer' } } }),
    headers: JSON_TYPE,
  });
  const stored = await client.send('POST', '/custom/BenchHop', { text: '{"n":1}', headers: JSON_TYPE });
  return (JSON.parse(stored.text) as [{ _id: string }])[0]._id;
}

const placeOf = async (name: string, client: RestClient, pid: number | undefined, id: string): Promise<Place> => ({
  name,
  url: client.base,
  pid: pid ?? 0,
  token: client.token ?? '',
  id,
});

function contestant({ name, url, pid, token, id }: Place, kind: (typeof KINDS)[number]): Contestant {
  const headers = { Authorization: `Bearer ${token}` };
  const request = (n: number): string =>
    kind === 'insert'
      ? httpRequest('POST', PATH, { ...headers, ...JSON_TYPE }, `{"n":${n}}`)
      : httpRequest('GET', `${PATH}/${id}`, headers);
  return { name, url, pid, protocol: HTTP, request };
}
