// A database for a single test, for tests that open a namespace again. On the tests' common database another file's service, with another
// clock, might take over the work of a stopped one.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import pino from 'pino';
import { openEmbeddedMongod } from '../../platform/mongod/index.ts';

export interface OwnDatabase extends AsyncDisposable {
  readonly uri: string;
  /** Of its mongod, for tests in which that stands still for a while. */
  readonly pid: number;
  /** Registers a namespace, so that a start continues its open work. */
  register(namespace: string): Promise<void>;
  /** The epoch of the process that started last. */
  newestEpoch(): Promise<number>;
  /** The epoch of the serving process that started last. */
  newestServing(): Promise<number>;
  /** The epoch of the owner. */
  ownerOf(namespace: string): Promise<number | null>;
  /** Declares a process dead, as another process would. */
  takeOver(epoch: number): Promise<void>;
  /** Waits until this process owns the namespace and has taken over the former owner's work. */
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
    pid: mongod.pid!,
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
