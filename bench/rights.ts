// What rights on single instances cost: insert and select by key over REST, by a token whose profile has a constraint on each of them, beside
// the same as admin, in the same service.

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

const CONNECTIONS = 256;
const INSTANCES = 2_000;
const JSON_TYPE = { 'Content-Type': 'application/json' };

const instance = (n: number) => ({ site: 'north', n, rate: n + 0.5, note: 'as measured at the outlet of the pump' });

const PROFILE = {
  name: 'bench_clerk',
  dml: { BenchRight: { select: { site: 'north', n: { ars_substitution_gte: 0 } }, insert: { n: { ars_substitution_gte: 0 } } } },
};

export async function rights(effort: Effort): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'cascade-bench-'));
  const mongod = await openEmbeddedMongod({ dataDir: folder, log: pino({ level: 'silent' }) });
  const service = await startService({ args: ['--mongo', mongod.uri] });
  try {
    const client = new RestClient(service.url);
    await client.login(service.user, service.password);
    const properties = { site: { type: 'String' }, n: { type: 'Integer' }, rate: { type: 'Real' }, note: { type: 'String' } };
    await expectOk(client, 'POST', '/types', { body: { name: 'BenchRight', properties } });
    await expectOk(client, 'POST', '/profiles', { text: JSON.stringify(PROFILE), headers: JSON_TYPE });
    const made = await client.send('POST', '/tokens', { body: { name: 'bench', profiles: ['bench_clerk'] } });
    const text = JSON.stringify(Array.from({ length: INSTANCES }, (_, n) => instance(n)));
    const stored = await client.send('POST', '/custom/BenchRight', { text, headers: JSON_TYPE });
    if (made.status !== 200 || stored.status !== 200) throw new Error(`${made.text} ${stored.text}`);
    const ids = (JSON.parse(stored.text) as { _id: string }[]).map(({ _id }) => _id);
    const tokens = {
      'constrained profile': (JSON.parse(made.text) as { accessToken: string }).accessToken,
      admin: await tokenOf(service.url, service.user, service.password),
    };
    const path = '/api/v1/resources/custom/BenchRight';
    const figures: Figure[] = [];
    for (const kind of ['insert', 'select by key'] as const) {
      const contestants = Object.entries(tokens).map(([name, token]) => {
        const headers = { Authorization: `Bearer ${token}` };
        const request = (n: number): string =>
          kind === 'insert'
            ? httpRequest('POST', path, { ...headers, ...JSON_TYPE }, JSON.stringify(instance(n)))
            : httpRequest('GET', `${path}/${ids[(n * 7919) % ids.length] ?? ''}`, headers);
        return { name, url: service.url, pid: service.process.pid ?? 0, protocol: HTTP, request };
      });
      const comparison = { name: `REST ${kind}, ${CONNECTIONS} connections`, unit: 'requests/s', connections: CONNECTIONS };
      figures.push(await compare({ ...comparison, mongodPid: mongod.pid ?? 0 }, contestants, effort));
    }
    return figures;
  } finally {
    await service[Symbol.asyncDispose]();
    await mongod[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
}
