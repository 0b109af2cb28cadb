// A database of one's own: for tests that open a namespace again. On the tests' common database another file's service, which has
// another clock, may take over what a stopped one left.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import pino from 'pino';
import { openEmbeddedMongod } from '../mongod/index.ts';

export interface OwnDatabase extends AsyncDisposable {
  readonly uri: string;
  /** Makes a namespace known, so that a start goes on with what is open there. */
  register(namespace: string): Promise<void>;
}

export async function openOwnDatabase(): Promise<OwnDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), 'cascade-own-'));
  const mongod = await openEmbeddedMongod({ dataDir, log: pino({ level: 'silent' }) });
  return {
    uri: mongod.uri,
    async register(namespace) {
      const client = new MongoClient(mongod.uri);
      await client.db('cascade').collection('namespaces').insertOne({ namespace });
      await client.close();
    },
    async [Symbol.asyncDispose]() {
      await mongod[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
