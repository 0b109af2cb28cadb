// Ownership of namespaces: a record a namespace names the owning process and the epoch of the ownership (the fencing token), which is new
// each time a namespace is opened or changes hands. Journal rows bear it, and the next owner closes the journal of the former one, so that
// no late commit of it can succeed. The claim of a dead process frees its records in the same transaction (process.ts).

import { type ClientSession, type Collection, type Db, type MongoClient } from 'mongodb';
import { newestIdSecond } from '../../model/types/index.ts';
import { Fenced } from '../transactions/index.ts';
import { OWNERS, type OwnerRecord } from './owner-records.ts';
import type { ServiceProcess } from './process.ts';

/** The ownership of a namespace by this process. */
export interface Ownership {
  readonly epoch: number;
  readonly unclosed: readonly number[];
  /** The second of the newest `_id` that a former owner has given, unless its journal has a newer one. */
  readonly idSecond: number;
  readonly listeners: readonly number[];
}

export type Acquired = { readonly ownership: Ownership } | { readonly owner: number };

interface Wanted {
  readonly resolve: (acquired: Acquired) => void;
  readonly reject: (error: unknown) => void;
}

/** Namespaces acquired in one transaction. */
const MOST_AT_ONCE = 500;

export class Owners {
  readonly #client: MongoClient;
  readonly #records: Collection<OwnerRecord>;
  readonly #processes: Collection<{ _id: number; takenBy?: number; acquired?: number }>;
  readonly #counters: Collection<{ _id: string; value: number }>;
  readonly #process: Pick<ServiceProcess, 'epoch'>;
  readonly #wanted = new Map<string, Wanted[]>();
  #isAcquiring = false;

  constructor(installation: Db, process: Pick<ServiceProcess, 'epoch'>) {
    this.#client = installation.client;
    this.#records = installation.collection(OWNERS);
    this.#processes = installation.collection('processes');
    this.#counters = installation.collection('counters');
    this.#process = process;
  }

  /**
   * Acquires a namespace that has no owner, or that this process owns: its ownership gets a new epoch. Concurrent calls share a
   * transaction.
   * @returns the ownership, or the process that owns the namespace
   * @throws Fenced when this process was declared dead
   */
  acquire(namespace: string): Promise<Acquired> {
    return new Promise((resolve, reject) => {
      const waiting = this.#wanted.get(namespace);
      if (waiting) waiting.push({ resolve, reject });
      else this.#wanted.set(namespace, [{ resolve, reject }]);
      if (this.#isAcquiring) return;
      this.#isAcquiring = true;
      setImmediate(() => void this.#acquireWanted());
    });
  }

  /** Records that all work of former owners is in this owner's journal. */
  async closed(namespace: string, { epoch, unclosed }: Ownership): Promise<void> {
    if (unclosed.length === 0) return;
    const change = { $pull: { unclosed: { $in: [...unclosed] } }, $max: { idSecond: newestIdSecond() } };
    await this.#records.updateOne({ _id: namespace, epoch }, change);
  }

  /** Gives up the ownership. @param isResting no process needs to own it until a request comes */
  async release(namespace: string, epoch: number, isResting: boolean): Promise<void> {
    const change = { $set: { process: null, isResting }, $max: { idSecond: newestIdSecond() } };
    await this.#records.updateOne({ _id: namespace, epoch }, change);
  }

  /** Gives up a namespace that could not be opened: its next owner closes this journal, too. */
  async giveUp(namespace: string, epoch: number): Promise<void> {
    const change = { $set: { process: null, isResting: false }, $addToSet: { unclosed: epoch } };
    await this.#records.updateOne({ _id: namespace, epoch }, change);
  }

  /** Adds the record of a new namespace, which has no owner until a request comes. */
  async add(namespace: string, session: ClientSession): Promise<void> {
    const record = { process: null, epoch: 0, isResting: true };
    await this.#records.updateOne({ _id: namespace }, { $setOnInsert: record }, { upsert: true, session });
  }

  /** Removes the record of a deleted namespace. */
  async remove(namespace: string): Promise<void> {
    await this.#records.deleteOne({ _id: namespace });
  }

  /** Records a process whose clients have subscriptions there: the next owner waits for it before it commits anything. */
  async addListener(namespace: string, epoch: number, listener: number): Promise<void> {
    await this.#records.updateOne({ _id: namespace, epoch }, { $addToSet: { listeners: listener } });
  }

  /** The owning process; null: none. */
  async ownerOf(namespace: string): Promise<number | null> {
    return (await this.#records.findOne({ _id: namespace }, { projection: { process: 1 } }))?.process ?? null;
  }

  /** Namespaces without an owner where work is left to do. */
  async abandoned(): Promise<string[]> {
    const free = await this.#records.find({ process: null, isResting: { $ne: true } }, { projection: { _id: 1 } }).toArray();
    return free.map(({ _id }) => _id);
  }

  /** Those of all namespaces that never had an owner: an earlier version may have left work there. */
  async unknown(names: readonly string[]): Promise<string[]> {
    const recorded = new Set(await this.#records.distinct('_id', {}));
    return names.filter((name) => !recorded.has(name));
  }

  async #acquireWanted(): Promise<void> {
    while (this.#wanted.size > 0) {
      const some = [...this.#wanted].slice(0, MOST_AT_ONCE);
      for (const [name] of some) this.#wanted.delete(name);
      try {
        const acquired = await this.#acquireAll(some.map(([name]) => name));
        for (const [name, waiting] of some) for (const { resolve } of waiting) resolve(acquired.get(name)!);
      } catch (error) {
        for (const [, waiting] of some) for (const { reject } of waiting) reject(error);
      }
    }
    this.#isAcquiring = false;
  }

  async #acquireAll(names: readonly string[]): Promise<Map<string, Acquired>> {
    // Unused numbers are lost: taking them in the transaction would serialize all processes.
    const counted = await this.#counters.findOneAndUpdate(
      { _id: 'epoch' },
      { $inc: { value: names.length } },
      { upsert: true, returnDocument: 'after' },
    );
    const first = (counted?.value ?? names.length) - names.length + 1;
    return this.#client.withSession((session) =>
      session.withTransaction(() => this.#acquireIn(session, names, first), {
        writeConcern: { w: 'majority' },
        readConcern: { level: 'snapshot' },
      }),
    );
  }

  async #acquireIn(session: ClientSession, names: readonly string[], first: number): Promise<Map<string, Acquired>> {
    const { epoch: own } = this.#process;
    // A process that declares this one dead writes there, too: one of the two transactions is retried.
    const { matchedCount } = await this.#processes.updateOne(
      { _id: own, takenBy: { $exists: false } },
      { $inc: { acquired: 1 } },
      { session },
    );
    if (matchedCount === 0) throw new Fenced('another process has taken over the work of this one');
    const found = await this.#records.find({ _id: { $in: [...names] } }, { session }).toArray();
    const records = new Map(found.map((record) => [record._id, record]));
    const acquired = new Map<string, Acquired>();
    const writes = [];
    for (const [index, name] of names.entries()) {
      const record = records.get(name);
      if (record && record.process !== null && record.process !== own) {
        acquired.set(name, { owner: record.process });
        continue;
      }
      const former = record?.process === own ? [record.epoch] : []; // an opening failed, or the release got no answer
      const unclosed = [...new Set([...(record?.unclosed ?? []), ...former])];
      const epoch = first + index;
      const owned = { process: own, epoch, unclosed, isResting: false, listeners: [] };
      writes.push({ updateOne: { filter: { _id: name }, update: { $set: owned }, upsert: true } });
      acquired.set(name, { ownership: { epoch, unclosed, idSecond: record?.idSecond ?? 0, listeners: record?.listeners ?? [] } });
    }
    if (writes.length > 0) await this.#records.bulkWrite(writes, { session, ordered: true });
    return acquired;
  }
}
