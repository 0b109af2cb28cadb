// What it costs that Node speaks HTTP in place of uWebSockets.js: two services on one database that differ in nothing else, in turn.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { RestClient, startService } from '../conformance/client/index.ts';
import { openEmbeddedMongod } from '../platform/mongod/index.ts';
import { compare, type Effort } from './compare.ts';
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

export async function front(effort: Effort): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'cascade-bench-'));
  const mongod = await openEmbeddedMongod({ dataDir: folder, log: pino({ level: 'silent' }) });
  const password = { CASCADE_ADMIN_PASSWORD: 'password of the bench' };
  try {
    const start = (kind: string) => startService({ args: ['--mongo', mongod.uri, '--http', kind], env: password });
    await using uws = await start('uws');
    await using node = await start('node');
    const client = new RestClient(uws.url);
    await client.login(uws.user, password.CASCADE_ADMIN_PASSWORD);
    const properties = Object.fromEntries(Object.entries(PROPERTIES).map(([name, type]) => [name, { type }]));
    await expectOk(client, 'POST', '/types', { body: { name: 'BenchFront', properties } });
    const token = await tokenOf(uws.url, uws.user, password.CASCADE_ADMIN_PASSWORD);
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const request = (n: number): string => httpRequest('POST', '/api/v1/resources/custom/BenchFront', headers, JSON.stringify(instance(n)));
    const one = (name: string, { url, process }: typeof uws) => ({ name, url, pid: process.pid ?? 0, protocol: HTTP, request });
    const figures: Figure[] = [];
    for (const connections of CONNECTIONS) {
      const comparison = { name: `REST insert, ${connections} connections`, unit: 'requests/s', connections, mongodPid: mongod.pid ?? 0 };
      figures.push(await compare(comparison, [one('on Node', node), one('on uWebSockets.js', uws)], effort));
    }
    return figures;
  } finally {
    await mongod[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
}
