// A database of one's own: for tests that open a namespace again. On the tests' common database another file's service, which has
// another clock, may take over what a stopped one left.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import pino from 'pino';
import { openEmbeddedMongod } from '../../platform/mongod/index.ts';

export interface OwnDatabase extends AsyncDisposable {
  readonly uri: string;
  /** Makes a namespace known, so that a start goes on with what is open there. */
  register(namespace: string): Promise<void>;
  /** The number of the process that began last. */
  newestEpoch(): Promise<number>;
  /** The number of the process that serves and began last. */
  newestServing(): Promise<number>;
  /** The number of the process that owns it. */
  ownerOf(namespace: string): Promise<number | null>;
  /** As if another process had taken this one for dead. */
  takeOver(epoch: number): Promise<void>;
  /** Waits until this process owns the namespace and has taken over what the one before had left. */
  owns(namespace: string, epoch: number): Promise<void>;
}

export async function openOwnDatabase(): Promise<OwnDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), 'cascade-own-'));
  const mongod = await openEmbeddedMongod({ dataDir, log: pino({ level: 'silent' }) });
  const client = new MongoClient(mongod.uri);
  const installation = client.db('cascade');
  const processes = installation.collection<{ _id: number }>('processes');
  return {
    uri: mongod.uri,
    async register(namespace) {
      await installation.collection('namespaces').insertOne({ namespace });
    },
    async newestEpoch() {
      const [newest] = await processes.find().sort({ _id: -1 }).limit(1).toArray();
      return newest?._id ?? 0;
    },
    async newestServing() {
      const [newest] = await processes
        .find({ serves: true } as object)
        .sort({ _id: -1 })
        .limit(1)
        .toArray();
      return newest?._id ?? 0;
    },
    async ownerOf(namespace) {
      return (
        (await installation.collection<{ _id: string; process: number | null }>('owners').findOne({ _id: namespace }))?.process ?? null
      );
    },
    async takeOver(epoch) {
      await processes.updateOne({ _id: epoch }, { $set: { takenBy: epoch + 1 } });
    },
    async owns(namespace, epoch) {
      const owners = installation.collection<{ _id: string }>('owners');
      const isDone = (): Promise<number> => owners.countDocuments({ _id: namespace, process: epoch, 'unclosed.0': { $exists: false } });
      for (const until = performance.now() + 60_000; performance.now() < until; await sleep(50)) if ((await isDone()) > 0) return;
      throw new Error(`the process ${epoch} does not own ${namespace}`);
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await mongod[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
