// The way to MongoDB: connection, the databases of the installation and of a namespace, and what its errors mean.

import { type Db, MongoBulkWriteError, MongoClient, MongoError, MongoNetworkError, MongoServerSelectionError } from 'mongodb';

export interface Store extends AsyncDisposable {
  readonly client: MongoClient;
  /** Namespaces, users, tokens, processes. */
  readonly installation: Db;
  namespace(name: string): Db;
}

/**
 * Connects to a replica set.
 * @throws Error when the address is out of reach, or is a standalone (which has no transactions)
 */
export async function openStore(uri: string): Promise<Store> {
  const client = new MongoClient(uri, {
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
    installation: client.db('cascade'),
    namespace: (name) => client.db(`cascade_ns_${name}`),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** The server is out of reach or changing: the same thing may work in a moment, and an outcome may be unknown. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof MongoNetworkError ||
  // The driver wraps what broke the connection of a bulk write in an error without any write's own.
  (error instanceof MongoBulkWriteError && error.code === undefined && [error.writeErrors].flat().length === 0) ||
  error instanceof MongoServerSelectionError ||
  (error instanceof MongoError &&
    (error.hasErrorLabel('UnknownTransactionCommitResult') ||
      error.name === 'MongoPoolClearedError' ||
      error.name === 'MongoExpiredSessionError' ||
      isShutdown(error)));

/** The codes of a server that is stepping down or stopping. */
const SHUTDOWN = new Set([91, 189, 10107, 11600, 11602, 13435, 13436]);
const isShutdown = (error: MongoError): boolean => typeof error.code === 'number' && SHUTDOWN.has(error.code);

/** A conflict with another transaction: the same again may pass. */
export const isTransient = (error: unknown): boolean => error instanceof MongoError && error.hasErrorLabel('TransientTransactionError');
