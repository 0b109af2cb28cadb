// One record for each process that serves an installation: its epoch, which names its journal rows, and its lease.
// A process whose record is dead has left rows behind that another may take over. Whether a lease is over is the database's time to say, and what
// the claimant has itself seen unchanged for a whole lease: no clock of another machine decides it.

import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { ClientSession, Db } from 'mongodb';
import { endTransactionsOf } from '../../platform/mongo/index.ts';

const LEASE_MS = 30_000;
const RENEW_EVERY_MS = 5_000;
/** Between two looks at the leases of others, for what was seen to count on. */
const LONGEST_GAP_MS = 2 * RENEW_EVERY_MS;
/** The end of a lease that nobody renews: its process has ended in order. */
const ENDED = new Date(0);

interface ProcessRecord {
  _id: number;
  host: string;
  /** Names the machine's start and the table of processes in which `pid` means something; absent in records of an earlier version. */
  machine?: string | null;
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
  const renewed = { leaseUntil: { $add: ['$$NOW', LEASE_MS] } };
  const own = { host: hostname(), machine: machineId(), pid: process.pid, client };
  await processes.updateOne({ _id: epoch }, [{ $set: { ...own, startedAt: '$$NOW', ...renewed } }], { upsert: true });
  const renewal = setInterval(() => {
    processes
      .updateOne({ _id: epoch, takenBy: { $exists: false } }, [{ $set: renewed }])
      .then(({ matchedCount }) => matchedCount > 0 || onTaken(), onError);
  }, RENEW_EVERY_MS);
  renewal.unref();
  const watched = new WatchedLeases();

  /** All that is dead, or nothing: who takes over from a process takes over what that had taken over from others, too. */
  const claimAll = async (session: ClientSession): Promise<ProcessRecord[]> => {
    const records = await processes
      .aggregate<ProcessRecord & { isOver: boolean }>(
        [{ $sort: { _id: 1 } }, { $addFields: { isOver: { $lt: ['$leaseUntil', '$$NOW'] } } }],
        { session },
      )
      .toArray();
    const seen = performance.now();
    watched.look(seen);
    if (records.find(({ _id }) => _id === epoch)?.takenBy !== undefined) return []; // it is dead itself
    const others = records.filter(({ _id }) => _id !== epoch);
    const dead = others.filter((one) => exclusive || isGone(one) || (one.isOver && watched.isStale(one, seen)));
    const gone = new Set([...dead.map(({ _id }) => _id), epoch]);
    const free = dead.filter(({ takenBy }) => takenBy === undefined || gone.has(takenBy) || !records.some(({ _id }) => _id === takenBy));
    const ids = free.map(({ _id }) => _id);
    if (ids.length > 0) await processes.updateMany({ _id: { $in: ids } }, { $set: { takenBy: epoch } }, { session });
    return free;
  };

  return {
    epoch,
    async claim() {
      const mine = await installation.client.withSession((session) => session.withTransaction(() => claimAll(session)));
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
      await processes.updateOne({ _id: epoch }, { $set: { leaseUntil: ENDED } }).catch(onError);
    },
  };
}

/** Leases of others as this process has seen them: since when, on its own monotonic clock, each has not been renewed. */
export class WatchedLeases {
  readonly #seen = new Map<number, { readonly until: number; readonly since: number }>();
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** The records are read. While the database does not answer nobody can renew a lease: after a gap all of them count anew. */
  look(now: number): void {
    if (now - this.#lookedAt > LONGEST_GAP_MS) this.#seen.clear();
    this.#lookedAt = now;
  }

  /** Whether the lease has been seen unchanged for as long as a lease lasts. @param now of the monotonic clock, when the record was read */
  isStale({ _id, leaseUntil }: Pick<ProcessRecord, '_id' | 'leaseUntil'>, now: number): boolean {
    const until = leaseUntil.getTime();
    if (until === ENDED.getTime()) return true;
    const known = this.#seen.get(_id);
    if (known?.until === until) return now - known.since >= LEASE_MS;
    this.#seen.set(_id, { until, since: now });
    return false;
  }
}

/** It ran here, and its pid is gone. */
function isGone(other: ProcessRecord): boolean {
  const machine = machineId();
  if (machine === null || other.machine !== machine || other.host !== hostname()) return false;
  try {
    process.kill(other.pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/**
 * Two processes with the same one see each other's pids: containers may share a host's name, or its kernel, and not these. Null where the system
 * does not tell: then leases alone count.
 */
function machineId(): string | null {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return null; // no Linux
  }
}
