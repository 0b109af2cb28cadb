// One record for each process that serves an installation: its epoch, which names its journal rows, and its lease.
// A process whose record is dead has left rows behind that another may take over.

import { hostname } from 'node:os';
import type { Db } from 'mongodb';
import { endTransactionsOf } from '../store/index.ts';

const LEASE_MS = 30_000;
const RENEW_EVERY_MS = 5_000;

interface ProcessRecord {
  _id: number;
  host: string;
  pid: number;
  startedAt: Date;
  leaseUntil: Date;
  /** What its connections to the store are called; absent in records of an earlier version. */
  client?: string;
  /** The process that takes over what this one left; its own death makes both free again. */
  takenBy?: number;
}

export interface ServiceProcess extends AsyncDisposable {
  readonly epoch: number;
  /** Epochs of processes that are gone and that nobody else takes over: they are this one's to take over. Oldest first. */
  claim(): Promise<number[]>;
  /** Whether nothing is known of that process any more: it is gone, and what it left is taken over. */
  isForgotten(epoch: number): Promise<boolean>;
  /** Their rows are taken over: nothing needs to know of them any more. */
  forget(epochs: readonly number[]): Promise<void>;
}

/**
 * Takes a new epoch and keeps its lease.
 * @param client what the connections of this process are called
 * @param exclusive nobody else can be using this installation (the embedded database has one owner): all other epochs are dead
 * @param onTaken another process has taken over what this one does: it was taken for dead
 */
export async function openProcess(
  installation: Db,
  client: string,
  exclusive: boolean,
  onTaken: () => void,
  onError: (error: unknown) => void,
): Promise<ServiceProcess> {
  const counters = installation.collection<{ _id: string; value: number }>('counters');
  const processes = installation.collection<ProcessRecord>('processes');
  const counted = await counters.findOneAndUpdate({ _id: 'epoch' }, { $inc: { value: 1 } }, { upsert: true, returnDocument: 'after' });
  const epoch = counted?.value ?? 1;
  const now = Date.now();
  await processes.insertOne({
    _id: epoch,
    host: hostname(),
    pid: process.pid,
    startedAt: new Date(now),
    leaseUntil: new Date(now + LEASE_MS),
    client,
  });
  const renewal = setInterval(() => {
    processes
      .updateOne({ _id: epoch, takenBy: { $exists: false } }, { $set: { leaseUntil: new Date(Date.now() + LEASE_MS) } })
      .then(({ matchedCount }) => matchedCount > 0 || onTaken(), onError);
  }, RENEW_EVERY_MS);
  renewal.unref();
  return {
    epoch,
    async claim() {
      const others = await processes
        .find({ _id: { $ne: epoch } })
        .sort({ _id: 1 })
        .toArray();
      const dead = others.filter((other) => exclusive || isDead(other));
      const gone = dead.map((other) => other._id);
      const mine: ProcessRecord[] = [];
      for (const other of dead) {
        const free = { _id: other._id, $or: [{ takenBy: { $exists: false } }, { takenBy: { $in: [...gone, epoch] } }] };
        if ((await processes.updateOne(free, { $set: { takenBy: epoch } })).matchedCount > 0) mine.push(other);
      }
      await endTransactionsOf(
        installation.client,
        mine.flatMap((other) => other.client ?? []),
      );
      return mine.map((other) => other._id);
    },
    isForgotten: async (other) => (await processes.countDocuments({ _id: other }, { limit: 1 })) === 0,
    async forget(epochs) {
      await processes.deleteMany({ _id: { $in: [...epochs] } });
    },
    async [Symbol.asyncDispose]() {
      clearInterval(renewal);
      // The rows of a process that ended in order are done; what a failed drain left is found through this record.
      await processes.updateOne({ _id: epoch }, { $set: { leaseUntil: new Date(0) } }).catch(onError);
    },
  };
}

/** Its lease has run out, or it ran here and its pid is gone. */
function isDead(other: ProcessRecord): boolean {
  if (other.leaseUntil.getTime() < Date.now()) return true;
  if (other.host !== hostname()) return false;
  try {
    process.kill(other.pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
