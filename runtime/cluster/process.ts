// One record for each process that serves an installation: its epoch, which names its journal rows, and its lease.
// A process whose record is dead has left rows behind that another may take over. Whether a lease is over is the database's time to say, and what
// the claimant has itself seen unchanged for a whole lease: no clock of another machine decides it.

import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { ClientSession, Db } from 'mongodb';
import { abortTransactionsOf } from '../../platform/mongo/index.ts';
import { OWNERS } from './owner-records.ts';

const LEASE_MS = 30_000;
const RENEW_EVERY_MS = 5_000;
/** So long before others may take its lease for over a process no longer relies on it: monotonic clocks, too, run a little faster or slower. */
const MARGIN_MS = 2_000;
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
  /** It owns namespaces by records (owners.ts); absent in records of an earlier version, which knows nothing of these. */
  owns?: true;
  /** Others can reach it. */
  hasBus?: boolean;
  /** It takes part in who owns what: it is ready, and is not about to stop. */
  serves?: boolean;
}

/** Another process that serves the installation, as the last look saw it. */
export interface LivingProcess {
  readonly epoch: number;
  readonly host: string;
  readonly pid: number;
  readonly hasBus: boolean;
  readonly serves: boolean;
  /** Of an earlier version, which does not know of owners. */
  readonly isOld: boolean;
  /** Its lease has been seen to be renewed: it is there. */
  readonly isSure: boolean;
}

export interface ServiceProcess extends AsyncDisposable {
  readonly epoch: number;
  /**
   * Declares dead all processes that are gone, and frees in the same transaction all namespaces that they own.
   * @returns their epochs, oldest first
   */
  claim(): Promise<number[]>;
  /** The others, as the last `claim` saw them. */
  readonly others: readonly LivingProcess[];
  /** Whether the lease is surely held: nobody can have taken this process for dead. By its own monotonic clock, so it needs no answer. */
  isSure(): boolean;
  /** Whether it takes part in who owns what. */
  serve(serves: boolean): Promise<void>;
}

export interface ProcessOptions {
  readonly installation: Db;
  /** What the connections of this process are called. */
  readonly client: string;
  /** Nobody else can be using this installation (the embedded database has one owner): all other epochs are dead. */
  readonly exclusive: boolean;
  readonly hasBus: boolean;
  /** Another process has taken over what this one does: it was taken for dead. */
  readonly onTaken: () => void;
  readonly onError: (error: unknown) => void;
}

/** Takes a new epoch and keeps its lease. */
export async function openProcess({ installation, client, exclusive, hasBus, onTaken, onError }: ProcessOptions): Promise<ServiceProcess> {
  const counters = installation.collection<{ _id: string; value: number }>('counters');
  const processes = installation.collection<ProcessRecord>('processes');
  const counted = await counters.findOneAndUpdate({ _id: 'epoch' }, { $inc: { value: 1 } }, { upsert: true, returnDocument: 'after' });
  const epoch = counted?.value ?? 1;
  const renewed = { leaseUntil: { $add: ['$$NOW', LEASE_MS] } };
  const own = { host: hostname(), machine: machineId(), pid: process.pid, client, owns: true as const, hasBus };
  await installation.collection(OWNERS).createIndex({ process: 1 });
  let renewedAt = performance.now();
  await processes.updateOne({ _id: epoch }, [{ $set: { ...own, startedAt: '$$NOW', ...renewed } }], { upsert: true });
  const renewal = setInterval(() => {
    const sentAt = performance.now();
    processes.updateOne({ _id: epoch, takenBy: { $exists: false } }, [{ $set: renewed }]).then(({ matchedCount }) => {
      if (matchedCount === 0) onTaken();
      else renewedAt = Math.max(renewedAt, sentAt);
    }, onError);
  }, RENEW_EVERY_MS);
  renewal.unref();
  const watched = new WatchedLeases();
  let living: LivingProcess[] = [];

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
    const stale = new Set(others.filter((one) => watched.isStale(one, seen))); // all are looked at: that they do not change counts from now on
    const dead = others.filter((one) => exclusive || isGone(one) || (one.isOver && stale.has(one)));
    living = others
      .filter((one) => !dead.includes(one) && one.takenBy === undefined)
      .map((one) => livingOf(one, watched.isRenewed(one._id)));
    const gone = new Set([...dead.map(({ _id }) => _id), epoch]);
    const free = dead.filter(({ takenBy }) => takenBy === undefined || gone.has(takenBy) || !records.some(({ _id }) => _id === takenBy));
    const ids = free.map(({ _id }) => _id);
    if (ids.length === 0) return free;
    await processes.updateMany({ _id: { $in: ids } }, { $set: { takenBy: epoch } }, { session });
    // Their journals are closed by whoever owns the namespaces next.
    const unclosed = { $setUnion: [{ $ifNull: ['$unclosed', []] }, ['$epoch']] };
    await installation.collection(OWNERS).updateMany({ process: { $in: ids } }, [{ $set: { process: null, unclosed } }], { session });
    return free;
  };

  return {
    epoch,
    async claim() {
      const mine = await installation.client.withSession((session) => session.withTransaction(() => claimAll(session)));
      const epochs = mine.map((other) => other._id);
      if (epochs.length === 0) return epochs;
      await abortTransactionsOf(
        installation.client,
        mine.flatMap((other) => other.client ?? []),
      );
      await processes.deleteMany({ _id: { $in: epochs } });
      return epochs;
    },
    get others() {
      return living;
    },
    isSure: () => exclusive || performance.now() - renewedAt < LEASE_MS - MARGIN_MS,
    async serve(serves) {
      await processes.updateOne({ _id: epoch }, { $set: { serves } });
    },
    async [Symbol.asyncDispose]() {
      clearInterval(renewal);
      // What it could not hand over is found through this record.
      await processes.updateOne({ _id: epoch }, { $set: { leaseUntil: ENDED } }).catch(onError);
    },
  };
}

/** Leases of others as this process has seen them: since when, on its own monotonic clock, each has not been renewed. */
export class WatchedLeases {
  readonly #seen = new Map<number, { readonly until: number; readonly since: number }>();
  readonly #renewed = new Set<number>();
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** The records are read. While the database does not answer nobody can renew a lease: after a gap all of them count anew. */
  look(now: number): void {
    if (now - this.#lookedAt > LONGEST_GAP_MS) this.#seen.clear();
    this.#lookedAt = now;
  }

  /** Whether the lease has been seen to change: somebody renews it. */
  isRenewed(epoch: number): boolean {
    return this.#renewed.has(epoch);
  }

  /** Whether the lease has been seen unchanged for as long as a lease lasts. @param now of the monotonic clock, when the record was read */
  isStale({ _id, leaseUntil }: Pick<ProcessRecord, '_id' | 'leaseUntil'>, now: number): boolean {
    const until = leaseUntil.getTime();
    if (until === ENDED.getTime()) return true;
    const known = this.#seen.get(_id);
    if (known?.until === until) return now - known.since >= LEASE_MS;
    if (known) this.#renewed.add(_id);
    this.#seen.set(_id, { until, since: now });
    return false;
  }
}

const livingOf = (one: ProcessRecord & { isOver: boolean }, isRenewed: boolean): LivingProcess => ({
  epoch: one._id,
  host: one.host,
  pid: one.pid,
  hasBus: one.hasBus === true,
  serves: one.serves === true,
  isOld: one.owns !== true,
  isSure: isRenewed || (!one.isOver && isHere(one)),
});

/** It runs here: its pid is there. */
const isHere = (one: ProcessRecord): boolean => one.machine === machineId() && one.machine !== null && !isGone(one);

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
