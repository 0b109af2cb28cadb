// The way to MongoDB: connection, the databases of the installation and of a namespace, reading from them, and what its errors mean.

import { randomUUID } from 'node:crypto';
import { type Db, MongoClient } from 'mongodb';
import { endWritesWithTheirConnection } from './connection-writes.ts';
import { readErrorsWhole } from './raw-errors.ts';

export { asRefusedShape, inTime, isLockedOut, isRetryable, isWriteConflict, isUnavailable } from './errors.ts';
export { type Changed, deleteAll, insertAll, type Inserted, replaceAll, type WriteError } from './writes.ts';
export { abortTransactionsOf } from './orphaned-transactions.ts';
export { EqualityReads } from './equality-reads.ts';
export { commitPipelined, type Pipeline, type PipelinedInsert, pipelineInserts, pipelineOf } from './pipelined-inserts.ts';
export { PointReads } from './point-reads.ts';
export { Backoff, retryUntilAvailable } from './retry-until-available.ts';
export { type Removed, removeOldest, sizeOf } from './remove-oldest.ts';
export { type Effort, type Find, type Held, RowReader, type Rows } from './rows.ts';
export { pipelineLimit, timeLimit } from './time-limit.ts';

const CONNECTIONS = 32;
const QUERY_CONNECTIONS = 48;

const databaseOf = (namespace: string): string => `cascade_ns_${namespace}`;

export interface Store extends AsyncDisposable {
  readonly client: MongoClient;
  /** What the connections of this process are called. */
  readonly clientName: string;
  /** Namespaces, users, tokens, processes. */
  readonly installation: Db;
  namespace(name: string): Db;
  /** The same database by connections of its own: however many queries wait there, commits and logins find a connection. */
  queries(name: string): Db;
}

/**
 * Connects to a replica set.
 * @throws Error when the address is out of reach, or is a standalone (which has no transactions)
 */
export async function openStore(uri: string): Promise<Store> {
  endWritesWithTheirConnection();
  readErrorsWhole();
  const clientName = `cascade ${randomUUID()}`;
  const options = {
    writeConcern: { w: 'majority', journal: true },
    readConcern: { level: 'majority' },
    serverSelectionTimeoutMS: 10_000,
    ignoreUndefined: false,
  } as const;
  const client = new MongoClient(uri, { ...options, appName: clientName, maxPoolSize: CONNECTIONS });
  const queries = new MongoClient(uri, { ...options, appName: `${clientName} queries`, maxPoolSize: QUERY_CONNECTIONS });
  const close = async (): Promise<void> => {
    await queries.close();
    await client.close();
  };
  try {
    await client.connect();
    await queries.connect();
    const hello = await client.db('admin').command({ hello: 1 });
    if (!hello['setName'] && hello['msg'] !== 'isdbgrid')
      throw new Error(
        'the MongoDB at this address is a standalone server: Cascade needs a replica set (of one node, too), since only that has transactions',
      );
  } catch (error) {
    await close();
    throw error;
  }
  return {
    client,
    clientName,
    installation: client.db('cascade'),
    namespace: (name) => client.db(databaseOf(name)),
    queries: (name) => queries.db(databaseOf(name)),
    [Symbol.asyncDispose]: close,
  };
}
