// The way to MongoDB: connection, the databases of the installation and of a namespace, reading from them, and what its errors mean.

import { randomUUID } from 'node:crypto';
import { type Db, MongoClient } from 'mongodb';
import { endWritesWithTheirConnection } from './connection-writes.ts';

export { inTime, isLockedOut, isPassing, isTransient, isUnavailable } from './errors.ts';
export { insertAll, type Inserted, type WriteError } from './insert.ts';
export { endTransactionsOf } from './left-transactions.ts';
export { EqualReads } from './equal-reads.ts';
export { PointReads } from './point-reads.ts';
export { Backoff, retryUntilAvailable } from './retry-until-available.ts';
export { type Find, RowReader, type Rows } from './rows.ts';

export interface Store extends AsyncDisposable {
  readonly client: MongoClient;
  /** What the connections of this process are called. */
  readonly clientName: string;
  /** Namespaces, users, tokens, processes. */
  readonly installation: Db;
  namespace(name: string): Db;
}

/**
 * Connects to a replica set.
 * @throws Error when the address is out of reach, or is a standalone (which has no transactions)
 */
export async function openStore(uri: string): Promise<Store> {
  endWritesWithTheirConnection();
  const clientName = `cascade ${randomUUID()}`;
  const client = new MongoClient(uri, {
    appName: clientName,
    maxPoolSize: 64,
    writeConcern: { w: 'majority', journal: true },
    readConcern: { level: 'majority' },
    serverSelectionTimeoutMS: 10_000,
    ignoreUndefined: false,
  });
  try {
    await client.connect();
    const hello = await client.db('admin').command({ hello: 1 });
    if (!hello['setName'] && hello['msg'] !== 'isdbgrid')
      throw new Error(
        'the MongoDB at this address is a standalone server: Cascade needs a replica set (of one node, too), since only that has transactions',
      );
  } catch (error) {
    await client.close();
    throw error;
  }
  return {
    client,
    clientName,
    installation: client.db('cascade'),
    namespace: (name) => client.db(`cascade_ns_${name}`),
    [Symbol.asyncDispose]: () => client.close(),
  };
}
