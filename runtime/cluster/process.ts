// One record for each process of an installation: its epoch and its lease. Another process may take over the work of one whose lease is
// over. Only the database's time, and an unchanged record that the claimant itself has watched for a whole lease, decide that: no clock of
// another machine.

import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { ClientSession, Collection, Db } from 'mongodb';
import { abortTransactionsOf } from '../../platform/mongo/index.ts';
import { type Clocks, LeaseTime } from './lease-time.ts';
import { OWNERS } from './owner-records.ts';

const LEASE_MS = 30_000;
const RENEW_EVERY_MS = 5_000;
/** Time before the end of its lease at which a process stops to rely on it, since monotonic clocks differ, too. */
const MARGIN_MS = 2_000;
/** Longest time between two looks at the leases of others for both to count. */
const LONGEST_GAP_MS = 2 * RENEW_EVERY_MS;
const RENEWED = { leaseUntil: { $add: ['$$NOW', LEASE_MS] } };
/** The end of the lease of a process that has stopped in order. */
const ENDED = new Date(0);

interface ProcessRecord {
  _id: number;
  host: string;
  /** Identifies the boot and the pid namespace in which `pid` is valid; absent in records of an earlier version. */
  machine?: string | null;
  pid: number;
  startedAt: Date;
  leaseUntil: Date;
  /** Name of its connections to the store; absent in records of an earlier version. */
  client?: string;
  /** The epoch of the process that takes over from it; when that one dies, both are free again. */
  takenBy?: number;
  /** Whether it uses owner records (owners.ts); absent in records of an earlier version, which does not know them. */
  owns?: true;
  /** Whether other processes can reach it. */
  hasBus?: boolean;
  /** Whether it may own namespaces: it is ready, and not about to stop. */
  serves?: boolean;
}

/** Another process of the installation, as of the last look. */
export interface LivingProcess {
  readonly epoch: number;
  readonly host: string;
  readonly pid: number;
  readonly hasBus: boolean;
  readonly serves: boolean;
  /** Whether it is of an earlier version, without owner records. */
  readonly isOld: boolean;
  /** Whether its lease was seen to be renewed, so that it certainly lives. */
  readonly isSure: boolean;
}

export interface ServiceProcess extends AsyncDisposable {
  readonly epoch: number;
  /**
   * Declares all processes dead whose leases are over, and frees their namespaces in the same transaction.
   * @returns their epochs, oldest first
   */
  claim(): Promise<number[]>;
  /** The other processes as of the last `claim`. */
  readonly others: readonly LivingProcess[];
  /** Those of other processes that have neither ended nor been declared dead, by the database. */
  living(epochs: readonly number[]): Promise<number[]>;
  /** Whether the lease is certainly held, by the time that has passed for this machine, asleep or not: nobody can have declared it dead. */
  isSure(): boolean;
  /** Sets whether it may own namespaces. */
  serve(serves: boolean): Promise<void>;
}

export interface ProcessOptions {
  readonly installation: Db;
  /** Name of this process's connections to the store. */
  readonly client: string;
  /** No other process can use this installation (the embedded database): all other epochs are dead. */
  readonly exclusive: boolean;
  readonly hasBus: boolean;
  /** Called when this process was declared dead: another one takes over. */
  readonly onTaken: () => void;
  readonly onError: (error: unknown) => void;
  /** Those of the machine when absent. */
  readonly clocks?: Clocks;
}

/** Acquires a new epoch and renews its lease. */
export async function openProcess(options: ProcessOptions): Promise<ServiceProcess> {
  const { installation, client, exclusive, hasBus, onError } = options;
  const counters = installation.collection<{ _id: string; value: number }>('counters');
  const processes = installation.collection<ProcessRecord>('processes');
  const counted = await counters.findOneAndUpdate({ _id: 'epoch' }, { $inc: { value: 1 } }, { upsert: true, returnDocument: 'after' });
  const epoch = counted?.value ?? 1;
  const own = { host: hostname(), machine: machineId(), pid: process.pid, client, owns: true as const, hasBus };
  await installation.collection(OWNERS).createIndex({ process: 1 });
  const time = new LeaseTime(() => renew(), options.clocks);
  await processes.updateOne({ _id: epoch }, [{ $set: { ...own, startedAt: '$$NOW', ...RENEWED } }], { upsert: true });
  const renew = renewing(processes, epoch, time, options);
  const renewal = setInterval(renew, RENEW_EVERY_MS);
  renewal.unref();
  const watched = new WatchedLeases();
  let living: LivingProcess[] = [];

  /** Claims all dead processes or none: a process that takes over from another one takes over that one's claims, too. */
  const claimAll = async (session: ClientSession): Promise<ProcessRecord[]> => {
    const records = await processes
      .aggregate<ProcessRecord & { isOver: boolean }>(
        [{ $sort: { _id: 1 } }, { $addFields: { isOver: { $lt: ['$leaseUntil', '$$NOW'] } } }],
        { session },
      )
      .toArray();
    const seen = performance.now();
    watched.look(seen);
    if (records.find(({ _id }) => _id === epoch)?.takenBy !== undefined) return []; // this process was declared dead itself
    const others = records.filter(({ _id }) => _id !== epoch);
    const stale = new Set(others.filter((one) => watched.isStale(one, seen))); // every lease is looked at, so that its unchanged time counts from now on
    const dead = others.filter((one) => exclusive || isGone(one) || (one.isOver && stale.has(one)));
    living = others
      .filter((one) => !dead.includes(one) && one.takenBy === undefined)
      .map((one) => livingOf(one, watched.isRenewed(one._id)));
    const gone = new Set([...dead.map(({ _id }) => _id), epoch]);
    const free = dead.filter(({ takenBy }) => takenBy === undefined || gone.has(takenBy) || !records.some(({ _id }) => _id === takenBy));
    const ids = free.map(({ _id }) => _id);
    if (ids.length === 0) return free;
    await processes.updateMany({ _id: { $in: ids } }, { $set: { takenBy: epoch } }, { session });
    // The next owners of the namespaces close their journals.
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
    async living(epochs) {
      const filter = { _id: { $in: [...epochs] }, takenBy: { $exists: false }, leaseUntil: { $ne: ENDED } };
      return (await processes.find(filter, { projection: { _id: 1 } }).toArray()).map(({ _id }) => _id);
    },
    isSure: () => exclusive || time.passedMs < LEASE_MS - MARGIN_MS,
    async serve(serves) {
      await processes.updateOne({ _id: epoch }, { $set: { serves } });
    },
    async [Symbol.asyncDispose]() {
      clearInterval(renewal);
      // The next claimant finds through this record what it could not hand over.
      await processes.updateOne({ _id: epoch }, { $set: { leaseUntil: ENDED } }).catch(onError);
    },
  };
}

function renewing(
  processes: Collection<ProcessRecord>,
  epoch: number,
  time: LeaseTime,
  { onTaken, onError }: Pick<ProcessOptions, 'onTaken' | 'onError'>,
): () => void {
  return () => {
    const sentAt = time.now();
    processes.updateOne({ _id: epoch, takenBy: { $exists: false } }, [{ $set: RENEWED }]).then(({ matchedCount }) => {
      if (matchedCount === 0) onTaken();
      else time.renewed(sentAt);
    }, onError);
  };
}

/** Watches the leases of others: for each, the time on this process's monotonic clock since which it was not renewed. */
export class WatchedLeases {
  readonly #seen = new Map<number, { readonly until: number; readonly since: number }>();
  readonly #renewed = new Set<number>();
  #lookedAt = Number.NEGATIVE_INFINITY;

  /**
   * To be called before the records are read. While the database is unavailable nobody can renew a lease: after a gap all of them count
   * anew.
   */
  look(now: number): void {
    if (now - this.#lookedAt > LONGEST_GAP_MS) this.#seen.clear();
    this.#lookedAt = now;
  }

  /** Whether the lease was seen to be renewed. */
  isRenewed(epoch: number): boolean {
    return this.#renewed.has(epoch);
  }

  /** Whether the lease was seen unchanged for its whole length. @param now monotonic time of the read */
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

/** Whether the process runs on this machine. */
const isHere = (one: ProcessRecord): boolean => one.machine === machineId() && one.machine !== null && !isGone(one);

/** Whether the process ran on this machine and its pid does not exist any more. */
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
 * An id that two processes share if they see each other's pids: containers may share a host's name or its kernel, but not this. Null where
 * the system does not provide one: then only leases count.
 */
function machineId(): string | null {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return null; // not Linux
  }
}
