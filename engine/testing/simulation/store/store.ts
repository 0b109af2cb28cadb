// The part of MongoDB that the committer, recovery and runs use, in memory: collections, transactions that see their own writes and lose to
// concurrent ones, unique keys, and a network that may fail before or after the server has carried out a command.

import type { DocumentSequence } from 'mongodb/lib/cmap/commands.js';
import {
  BSON,
  type Db,
  type Document,
  Long,
  type MongoClient,
  MongoBulkWriteError,
  MongoNetworkError,
  MongoServerError,
  ObjectId,
} from 'mongodb';
import type { PipelinedInsert } from '../../../../platform/mongo/index.ts';
import type { Life, World } from '../world.ts';
import { type Change, STEPPING_DOWN, Transaction, transient } from './transaction.ts';

interface Command {
  readonly insert?: string;
  readonly documents?: DocumentSequence;
  readonly update?: string;
  readonly updates?: DocumentSequence;
  readonly delete?: string;
  readonly deletes?: DocumentSequence;
  readonly abortTransaction?: 1;
}
type Filter = Record<string, unknown>;
type Rows = Map<string, Document>;

/** Unauthorized, as after a key rotation: an error that does not promise that a retry succeeds. */
export const INTERRUPTED = 13;
const INTERRUPTED_CHANCE = 0.3;
/** UnknownError (no space left), KeyNotFound (no signing keys yet), Interrupted, OutOfDiskSpace: nothing of the command was done. */
const TROUBLES = [8, 211, 11601, 14031];

/** Collections that a fenced process may still change. */
const NO_EFFECTS: ReadonlySet<string> = new Set(['logs', 'answers', 'programs']);

/** What can be forgotten: the marks of ended runs, the events of the journal, the versions of changes, the checkpoints of statements. */
export type Planted = 'marks' | 'journal' | 'versions' | 'parts';

export class SimulatedStore {
  readonly #world: World;
  readonly #collections = new Map<string, Rows>();
  /** Properties of a collection that form a unique key. */
  readonly #unique: ReadonlyMap<string, readonly string[]>;
  /** What the store forgets, so that a test sees whether the checker notices. */
  planted: Planted | null = null;
  /** Chance of a broken connection, per command. */
  faults = 0;
  /** Chance that the server refuses a command with an error of its own, per command. */
  troubles = 0;
  /** Whether the server is unavailable. */
  isAway = false;
  /** Number of removals of rows, or of marks that void rows, that are to be interrupted. */
  interruptions = 0;
  /** Rows that open transactions have changed. */
  readonly #held = new Map<string, Transaction>();
  readonly #changedAt = new Map<string, number>();
  #changes = 0;
  /** All former states of the rows of these collections. */
  readonly past = new Map<string, Document[]>([['t.Counter', []]]);
  /** Collections that a fenced process has changed. */
  readonly late: string[] = [];

  constructor(world: World, unique: Readonly<Record<string, readonly string[]>>) {
    this.#world = world;
    this.#unique = new Map(Object.entries(unique));
  }

  rows(collection: string): Document[] {
    return [...this.#of(collection).values()];
  }

  /** The store as one life of the service sees it. */
  connect(life: Life): { client: MongoClient; db: Db } {
    const pipelined = ({ collection, documents }: PipelinedInsert, session: Transaction): Document =>
      this.#collection(life, collection).insertAtOnce(
        documents.map(({ document }) => document),
        session,
      );
    const db = {
      databaseName: 'simulated',
      collection: (name: string) => this.#collection(life, name),
      createCollection: (name: string) => this.command(life, `create ${name}`, () => void this.#of(name)),
      /** Only `insert`, `update`, `delete`, `commitTransaction` and `abortTransaction` are supported. */
      command: async (command: Command, options: { session?: Transaction } = {}) => {
        const { insert, documents, update, updates, delete: remove, deletes, abortTransaction } = command;
        if (update !== undefined || remove !== undefined) {
          const operations = [
            ...(updates?.documents ?? []).map(({ q, u }) => ({ replaceOne: { filter: q as Filter, replacement: u as Document } })),
            ...(deletes?.documents ?? []).map(({ q }) => ({ deleteOne: { filter: q as Filter } })),
          ];
          const changing = this.#collection(life, (update ?? remove) as string).bulkWrite(operations, options);
          const { matchedCount, deletedCount } = await changing;
          return { ok: 1, n: matchedCount + deletedCount };
        }
        if (insert === undefined || !documents) return abortTransaction ? options.session?.abort() : options.session?.commit();
        try {
          await this.#collection(life, insert).insertMany([...documents.documents], options);
          return { ok: 1 };
        } catch (error) {
          if (error instanceof MongoBulkWriteError) return { ok: 1, writeErrors: error.writeErrors };
          throw error;
        }
      },
    } as unknown as Db;
    const client = {
      startSession: () => new Transaction(this, life, client, pipelined),
      withSession: async (work: (session: Transaction) => Promise<unknown>) => work(new Transaction(this, life, client, pipelined)),
      db: () => db,
    } as unknown as MongoClient;
    return { client, db };
  }

  /**
   * Carries out one command: it may be lost, or its answer may be.
   * @param mayBeLate the server may carry it out after the connection broke; commands of a transaction end with it
   * @param lost called when the server never carries it out
   */
  async command<T>(life: Life, what: string, act: () => T, mayBeLate = false, lost?: () => void): Promise<T> {
    await this.#world.turn(life, what, true);
    if (this.isAway) {
      lost?.();
      throw this.#broken(what);
    }
    if (this.#world.chance(this.troubles)) {
      lost?.();
      throw new MongoServerError({ message: 'in trouble', code: this.#world.pick(TROUBLES) });
    }
    if (this.#world.chance(this.faults)) {
      if (mayBeLate && this.#world.chance(0.3)) this.#world.later(life, `${what} late`, () => quietly(act), true);
      else lost?.();
      throw this.#broken(what);
    }
    const result = act();
    await this.#world.turn(life, `${what} answered`);
    if (this.isAway || this.#world.chance(this.faults)) throw this.#broken(what);
    return result;
  }

  /** The error of a failed network, or of a server that steps down: it leaves open whether the command was carried out. */
  #broken(what: string): Error {
    if (this.#world.chance(0.5)) return new MongoNetworkError('the connection broke');
    const error = new MongoServerError({ message: 'the primary steps down', code: this.#world.pick(STEPPING_DOWN) });
    if (what === 'commit') error.addErrorLabel('UnknownTransactionCommitResult');
    return error;
  }

  /** Fails a command on the journal, in a world that interrupts them. @throws Unauthorized */
  interrupt(collection: string): void {
    if (collection !== 'journal' || this.interruptions === 0 || !this.#world.chance(INTERRUPTED_CHANCE)) return;
    this.interruptions--;
    throw new MongoServerError({ message: 'not authorized', code: INTERRUPTED });
  }

  /** The time of a row's last change. */
  changedAt(collection: string, key: string): number {
    return this.#changedAt.get(`${collection} ${key}`) ?? 0;
  }

  /**
   * Locks a row for a transaction that is going to change it. @throws WriteConflict when another one has, or the row was changed since it
   * began
   */
  hold(transaction: Transaction, collection: string, key: string): void {
    const name = `${collection} ${key}`;
    const holder = this.#held.get(name);
    if (holder && holder !== transaction) {
      // The server ends the transactions of clients whose connections are gone or silent.
      if (holder.life.alive && !holder.life.isPaused) throw transient();
      holder.expire();
    }
    if (this.changedAt(collection, key) > transaction.beganAt) throw transient();
    this.#held.set(name, transaction);
  }

  release(transaction: Transaction): void {
    for (const [name, holder] of this.#held) if (holder === transaction) this.#held.delete(name);
  }

  get changes(): number {
    return this.#changes;
  }

  #of(name: string): Rows {
    let rows = this.#collections.get(name);
    if (!rows) {
      rows = new Map();
      this.#collections.set(name, rows);
    }
    return rows;
  }

  read(name: string, overlay: readonly Change[]): Rows {
    const own = overlay.filter((change) => change.collection === name);
    if (own.length === 0) return this.#of(name);
    const rows = new Map(this.#of(name));
    for (const { key, next } of own) {
      if (next) rows.set(key, next);
      else rows.delete(key);
    }
    return rows;
  }

  takes(name: string, rows: Rows, document: Document): string | null {
    if (rows.has(keyOf(document['_id']))) return '_id_';
    const properties = this.#unique.get(name) ?? [];
    if (!properties.some((property) => document[property] !== undefined)) return null;
    for (const row of rows.values())
      if (properties.every((property) => row[property] === document[property])) return `unique_${properties.join('_')}`;
    return null;
  }

  /** Whether a stored document has the unique key of this one. */
  isTaken(name: string, document: Document): boolean {
    return this.takes(name, this.#of(name), document) !== null;
  }

  /** Applies all changes at once, unless rows have changed since they were read. @param isAlone it is a command without a transaction */
  apply(changes: readonly Change[], life: Life, isAlone = false): void {
    for (const { collection, key, before, next } of changes) {
      const conflict = this.#of(collection).get(key) !== before || (next && !before && this.takes(collection, this.#of(collection), next));
      if (conflict) throw transient();
    }
    // Log messages are not effects, nor is the stored reply of a request; and closing a dead process's epoch once more changes nothing. An
    // insert that starts no rule is a command of its own: it is valid whenever it arrives.
    const isEffect = ({ collection, before, next }: Change): boolean =>
      !NO_EFFECTS.has(collection) && next?.['closed'] !== true && !(isAlone && !before && collection.startsWith('t.'));
    const late = life.isFenced ? changes.filter(isEffect) : [];
    this.late.push(...late.map(({ collection }) => collection));
    this.#changes++;
    for (const { collection, key, next } of changes) {
      this.#changedAt.set(`${collection} ${key}`, this.#changes);
      if (next) this.past.get(collection)?.push(next);
      if (next) this.#of(collection).set(key, next);
      else this.#of(collection).delete(key);
    }
  }

  /** A journal row without the planted part. */
  #spoilt(row: Document): Document {
    if (this.planted === 'marks') return { ...row, done: [] };
    if (this.planted === 'journal') return { ...row, events: [] };
    if (this.planted === 'parts') return { ...row, steps: (row['steps'] as Document[]).filter(({ site }) => !String(site).includes('#')) };
    return row;
  }

  #collection(life: Life, name: string) {
    /** Changes the transaction's own view, or the store at once. */
    const change = (session: Transaction | undefined, work: (rows: Rows) => Change[]): void => {
      if (!session) return this.apply(work(this.#of(name)), life, true);
      session.use();
      const seen = this.read(name, session.changes);
      for (const one of work(seen)) {
        this.hold(session, name, one.key);
        const earlier = session.changes.find((known) => known.collection === name && known.key === one.key);
        session.changes.push(earlier ? { ...one, before: earlier.before } : { ...one, before: this.#of(name).get(one.key) });
        if (earlier) session.changes.splice(session.changes.indexOf(earlier), 1);
      }
    };
    const insert = (documents: readonly Document[], session: Transaction | undefined): void => {
      const errors: { code: number; index: number; errmsg: string }[] = [];
      for (const [index, document] of documents.entries()) {
        const taken = this.takes(name, session ? this.read(name, session.changes) : this.#of(name), document);
        if (taken !== null) {
          errors.push({ code: 11000, index, errmsg: `E11000 index: ${taken} dup key` });
          if (session) break;
        } else change(session, () => [{ collection: name, key: keyOf(document['_id']), before: undefined, next: { ...document } }]);
      }
      if (errors.length > 0) throw bulkError(errors);
    };
    const remove = (filter: Filter, session: Transaction | undefined, most = Number.POSITIVE_INFINITY): number => {
      let count = 0;
      change(session, (rows) => {
        const gone: Change[] = [];
        for (const [key, row] of candidates(rows, filter))
          if (gone.length < most && meets(row, filter)) gone.push({ collection: name, key, before: row, next: null });
        count = gone.length;
        return gone;
      });
      return count;
    };
    const cursor = (filter: Filter, options: { raw?: boolean; limit?: number; sort?: Record<string, 1 | -1> } = {}) => {
      let order: Record<string, 1 | -1> = options.sort ?? {};
      let most = options.limit ?? Number.POSITIVE_INFINITY;
      const toArray = (): Promise<Document[]> =>
        this.command(life, `find ${name}`, () => {
          const found: Document[] = [];
          for (const [, row] of candidates(this.#of(name), filter)) if (meets(row, filter)) found.push(row);
          for (const [path, direction] of Object.entries(order)) found.sort((a, b) => direction * compare(a[path], b[path]));
          return options.raw ? found.slice(0, most).map((row) => BSON.serialize(row) as Document) : found.slice(0, most);
        });
      const self = {
        sort: (by: Record<string, 1 | -1>) => {
          order = by;
          return self;
        },
        limit: (count: number) => {
          most = count;
          return self;
        },
        allowDiskUse: () => self,
        toArray,
        async *[Symbol.asyncIterator]() {
          yield* await toArray();
        },
      };
      return self;
    };
    type Options = { session?: Transaction };
    return {
      find: (filter: Filter, options: { raw?: boolean; limit?: number; sort?: Record<string, 1 | -1> } = {}) => cursor(filter, options),
      distinct: async (property: string) => [...new Set((await cursor({}).toArray()).map((row) => row[property] as unknown))],
      findOne: async (filter: Filter, options: { raw?: boolean } = {}) => (await cursor(filter, options).toArray())[0] ?? null,
      insertMany: (documents: Document[], { session }: Options = {}) =>
        this.command(
          life,
          `insert ${documents.length} ${name}`,
          () => insert(name === 'journal' ? documents.map((row) => this.#spoilt(row)) : documents, session),
          !session,
        ),
      /** Without a network between. @returns the store's reply */
      insertAtOnce: (documents: Document[], session: Transaction): Document => {
        try {
          insert(name === 'journal' ? documents.map((row) => this.#spoilt(row)) : documents, session);
          return { ok: 1 };
        } catch (error) {
          session.expire(); // a statement that fails aborts its transaction
          if (error instanceof MongoBulkWriteError) return { ok: 1, writeErrors: error.writeErrors };
          if (!(error instanceof MongoServerError)) throw error;
          return { ok: 0, code: error.code, errmsg: error.message, errorLabels: error.errorLabels };
        }
      },
      insertOne: (document: Document, { session }: Options = {}) =>
        this.command(life, `insert ${name} ${session ? 'in a transaction' : ''}`, () => {
          try {
            insert([document], session);
          } catch (error) {
            throw error instanceof MongoBulkWriteError ? new MongoServerError({ message: 'E11000', code: 11000 }) : error;
          }
        }),
      bulkWrite: (operations: Document[], { session }: Options = {}) => {
        const answerPipeline = session?.takePipeline();
        return this.command(life, `change ${operations.length} ${name}`, () => {
          this.interrupt(name);
          answerPipeline?.();
          let matchedCount = 0;
          let deletedCount = 0;
          for (const { replaceOne, updateOne, deleteOne } of operations) {
            if (updateOne)
              change(session, (rows) => {
                const row = rows.get(keyOf(updateOne.filter._id));
                return row ? [{ collection: name, key: keyOf(row['_id']), before: row, next: { ...row, ...updateOne.update.$set } }] : [];
              });
            else if (deleteOne) deletedCount += remove(deleteOne.filter as Filter, session, 1);
            else
              change(session, (rows) => {
                // The filter is evaluated on the rows at the beginning of the transaction, not on the present ones.
                if (session && this.changedAt(name, keyOf(replaceOne.filter._id)) > session.beganAt) throw transient();
                for (const [key, row] of candidates(rows, replaceOne.filter as Filter))
                  if (meets(row, this.planted === 'versions' ? { _id: replaceOne.filter._id } : (replaceOne.filter as Filter))) {
                    matchedCount++;
                    return [{ collection: name, key, before: row, next: { _id: row['_id'], ...(replaceOne.replacement as Document) } }];
                  }
                return [];
              });
          }
          return { matchedCount, deletedCount };
        });
      },
      updateOne: (filter: Filter, { $set = {}, $setOnInsert = {} }: Record<string, Document>, { upsert = false } = {}) =>
        this.command(life, `change ${name}`, () => {
          let matchedCount = 0;
          change(undefined, (rows) => {
            for (const [key, row] of candidates(rows, filter))
              if (meets(row, filter)) {
                matchedCount = 1;
                return [{ collection: name, key, before: row, next: { ...row, ...$set } }];
              }
            if (!upsert) return [];
            const next = { _id: filter['_id'], ...$set, ...$setOnInsert };
            return [{ collection: name, key: keyOf(next._id), before: undefined, next }];
          });
          return { matchedCount };
        }),
      drop: () => this.command(life, `drop ${name}`, () => this.#collections.delete(name)),
      deleteMany: (filter: Filter, { session }: Options = {}) =>
        this.command(life, `delete ${name}`, () => {
          this.interrupt(name);
          return { deletedCount: remove(filter, session) };
        }),
    };
  }
}

/** Ignores an error that nobody waits for. */
function quietly(act: () => unknown): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof MongoServerError)) throw error;
  }
}

const keyOf = (id: unknown): string => (id instanceof ObjectId ? id.toHexString() : JSON.stringify(id));

function bulkError(writeErrors: readonly Document[]): MongoBulkWriteError {
  const result = { getWriteConcernError: () => undefined } as never;
  return new MongoBulkWriteError({ message: 'E11000', code: 11000, writeErrors: [...writeErrors] as never }, result);
}

/** The rows that may match: a filter by id finds its row directly. */
function candidates(rows: Rows, filter: Filter): Iterable<[string, Document]> {
  const id = filter['_id'];
  if (!(id instanceof ObjectId)) return rows;
  const row = rows.get(keyOf(id));
  return row ? [[keyOf(id), row]] : [];
}

function meets(row: Document, filter: Filter): boolean {
  for (const path in filter) if (!isMet(row, path, filter[path])) return false;
  return true;
}

function isMet(row: Document, path: string, wanted: unknown): boolean {
  if (path === '$or') return (wanted as Filter[]).some((one) => meets(row, one));
  if (path === '$and') return (wanted as Filter[]).every((one) => meets(row, one));
  const dot = path.indexOf('.');
  if (dot < 0) return holds(row[path], wanted);
  const member = path.slice(dot + 1);
  if (/^\d+$/.test(member)) return holds((row[path.slice(0, dot)] as unknown[] | undefined)?.[Number(member)], wanted);
  return (row[path.slice(0, dot)] as Document[]).some((one) => holds(one[member], wanted));
}

function holds(value: unknown, wanted: unknown): boolean {
  if (!isOperators(wanted)) return compare(value, wanted) === 0;
  for (const name in wanted) if (!isTrue(value, name, wanted[name])) return false;
  return true;
}

function isOperators(wanted: unknown): wanted is Document {
  if (wanted === null || typeof wanted !== 'object') return false;
  for (const name in wanted) return name.startsWith('$');
  return false;
}

function isTrue(value: unknown, name: string, bound: unknown): boolean {
  if (name === '$eq') return compare(value, bound) === 0;
  if (name === '$in') return (bound as unknown[]).some((one) => compare(value, one) === 0);
  if (name === '$regex') return new RegExp(bound as string).test(String(value));
  if (name === '$not') return !holds(value, bound);
  if (name === '$exists') return (value !== undefined) === bound;
  if (name === '$ne') return compare(value, bound) !== 0;
  const order = compare(value, bound);
  if (name === '$gt') return order > 0;
  if (name === '$gte') return order >= 0;
  if (name === '$lt') return order < 0;
  if (name === '$lte') return order <= 0;
  throw new TypeError(`the simulated store has no ${name}`);
}

/** The order of BSON, for the values that are stored here. */
function compare(a: unknown, b: unknown): number {
  const left = plain(a);
  const right = plain(b);
  if (left !== null && right !== null && typeof left === 'object' && typeof right === 'object') {
    const l = Object.values(left);
    const r = Object.values(right);
    for (let index = 0; index < Math.min(l.length, r.length); index++) {
      const order = compare(l[index], r[index]);
      if (order !== 0) return order;
    }
    return l.length - r.length;
  }
  if (left === right) return 0;
  if (left === undefined || left === null) return -1;
  if (right === undefined || right === null) return 1;
  return left < right ? -1 : 1;
}

const plain = (value: unknown): unknown =>
  value instanceof ObjectId
    ? value.toHexString()
    : value instanceof Long
      ? value.toNumber()
      : value instanceof Date
        ? value.getTime()
        : value;
