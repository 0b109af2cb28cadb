// What the parts of the benchmark share: the service, its store, and what is asked of them.
import type { Collection, Db, MongoClient } from 'mongodb';
import type { RestClient, StartedService } from '../../conformance/client/index.ts';
import type { Contestant, Effort } from '../compare.ts';
import { HTTP, httpRequest } from '../load.ts';
import { type Baseline, expectOk } from '../processes.ts';

/** Instances in one request, where they come in arrays. */
export const ARRAY = 1_000;
export const JSON_TYPE = { 'Content-Type': 'application/json' };
export const TEXT_TYPE = { 'Content-Type': 'text/plain' };

export interface Bench {
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

/** @param type whose instances are inserted, one a request */
export const inserting = ({ service, token }: Bench, type: string, instance: (n: number) => object): Contestant => ({
  name: 'cascade',
  url: service.url,
  pid: service.process.pid ?? 0,
  protocol: HTTP,
  request: (n) =>
    httpRequest(
      'POST',
      `/api/v1/resources/custom/${type}`,
      { Authorization: `Bearer ${token}`, ...JSON_TYPE },
      JSON.stringify(instance(n)),
    ),
});

export const baselineOf = (name: string, { url, process }: Baseline, instance: (n: number) => object): Contestant => ({
  name,
  url,
  pid: process.pid ?? 0,
  protocol: HTTP,
  request: (n) => httpRequest('POST', '/insert', JSON_TYPE, JSON.stringify(instance(n))),
});

/** The collection of a type's instances. */
export async function instancesIn(db: Db, type: string): Promise<Collection> {
  const row = await db.collection('resources').findOne({ kind: 'types', name: type });
  return db.collection(String(row?.['collection']));
}

export async function post(client: RestClient, type: string, instances: readonly object[]): Promise<void> {
  await expectOk(client, 'POST', `/custom/${type}`, { text: JSON.stringify(instances), headers: JSON_TYPE });
}
