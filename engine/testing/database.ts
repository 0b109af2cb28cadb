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
  /** As if another process had taken this one for dead. */
  takeOver(epoch: number): Promise<void>;
  /** Waits until this process leads the namespace and has taken over what the one before had left. */
  leads(namespace: string, epoch: number): Promise<void>;
  /** Lets no process come further, in the taking over of what was left in a namespace, than to where it leads. */
  holdTakeOver(namespace: string): Promise<HeldTakeOver>;
}

export interface HeldTakeOver {
  /** Waits until a process has come so far. */
  reached(): Promise<void>;
  release(): Promise<void>;
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
    async takeOver(epoch) {
      await processes.updateOne({ _id: epoch }, { $set: { takenBy: epoch + 1 } });
    },
    async leads(namespace, epoch) {
      const leaders = installation.collection<{ _id: string }>('leaders');
      for (const until = performance.now() + 60_000; performance.now() < until; await sleep(50)) {
        const isLed = (await leaders.countDocuments({ _id: namespace, epoch })) > 0;
        if (isLed && (await processes.countDocuments({ takenBy: epoch })) === 0) return;
      }
      throw new Error(`the process ${epoch} does not lead ${namespace}`);
    },
    async holdTakeOver(namespace) {
      // The first that is removed there are ends of long ago: this one is held by a transaction, and the store lets the removal wait for it.
      const journal = client
        .db(`cascade_ns_${namespace}`)
        .collection<{ _id: object; closed: true; closedAt: Date; isHeld?: true }>('journal');
      const _id = { epoch: 0, slot: 0, seq: 0 };
      await journal.insertOne({ _id, closed: true, closedAt: new Date(0) });
      const session = client.startSession();
      session.startTransaction();
      await journal.updateOne({ _id }, { $set: { isHeld: true } }, { session });
      const wanted = { $exists: true };
      const removal = { $or: [{ 'command.q.closedAt': wanted }, { 'command.deletes.q.closedAt': wanted }] };
      const isReached = (): Promise<boolean> =>
        client
          .db('admin')
          .aggregate([{ $currentOp: {} }, { $match: removal }])
          .hasNext();
      return {
        async reached() {
          for (const until = performance.now() + 60_000; performance.now() < until; await sleep(20)) if (await isReached()) return;
          throw new Error(`nothing was taken over in ${namespace}`);
        },
        async release() {
          await session.abortTransaction();
          await session.endSession();
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await mongod[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
