// Brings the indexes of types to their definitions while instances are read and written. An index that instances may violate (unique, geo)
// is built before the definition is stored, so that the definition's guarantees hold from its first moment; all others are built
// afterwards. Indexes that a definition does not name are removed once it is stored.

import { type Collection, type Db, type Document, MongoServerError } from 'mongodb';
import { apiError, refusalOfOne } from '../../model/errors/index.ts';
import { retryUntilAvailable } from '../../platform/mongo/index.ts';
import { type MongoIndex, mongoIndexes, type TypeDefinition } from '../../model/types/index.ts';
import type { ObjectValue } from '../../stdlib/values/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { StateKey } from '../states.ts';

const DUPLICATE = 11000;
const CANNOT_EXTRACT_GEO_KEYS = 16755;
/** The store's code for another index with the same keys. */
const OPTIONS_CONFLICT = 85;
const LOOK_EVERY_MS = 1_000;
const ANSWER_WITHIN_MS = 60_000;

interface Build {
  readonly index: MongoIndex;
  /** A fraction from 0 to 1; null where it is unknown. */
  progress: number | null;
}

export const INDEX_BUILDS = new StateKey<IndexBuilds>('index builds');
export const indexBuildsOf = (space: Namespace): IndexBuilds => space.states.get(INDEX_BUILDS);

/** The index builds in progress in a namespace. */
export class IndexBuilds {
  readonly #db: Db;
  /** Builds in progress, by collection. */
  readonly #builds = new Map<string, Set<Build>>();
  /** Codes of errors after the answer, by collection. */
  readonly #failed = new Map<string, string>();
  /** The same of the work behind a change, until such work succeeds. */
  readonly #failedBehind = new Map<string, string>();
  readonly #lines = new Map<string, Promise<void>>();
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  readonly #answerWithinMs: number;

  /** @param answerWithinMs less than the time limit of a request */
  constructor(db: Db, answerWithinMs = ANSWER_WITHIN_MS) {
    this.#db = db;
    this.#answerWithinMs = answerWithinMs;
  }

  /** Whether a build is in progress. */
  get areOpen(): boolean {
    return this.#builds.size > 0;
  }

  /** The entries for missing indexes in the representation of a type; null when there are none. */
  shown({ collection }: TypeDefinition): ObjectValue[] | null {
    const failed = this.#failed.get(collection) ?? this.#failedBehind.get(collection);
    const builds = [...(this.#builds.get(collection) ?? [])].map(({ index, progress }): ObjectValue => {
      const keys = Object.entries(index.key).map(([path, kind]) => (kind === 1 ? path : kind === -1 ? `-${path}` : `#${path}`));
      return { keys, unique: index.unique === true, state: 'building', progress };
    });
    if (failed !== undefined) builds.push({ state: 'failed', error: failed });
    return builds.length > 0 ? builds : null;
  }

  isBuilding(collection: string, name: string): boolean {
    return [...(this.#builds.get(collection) ?? [])].some(({ index }) => index.name === name);
  }

  async during<T>({ collection }: TypeDefinition, index: MongoIndex, work: () => Promise<T>): Promise<T> {
    const builds = this.#builds.get(collection) ?? new Set<Build>();
    const build: Build = { index, progress: null };
    this.#failed.delete(collection);
    this.#builds.set(collection, builds.add(build));
    this.#timer ??= setInterval(() => void this.#look(), LOOK_EVERY_MS).unref();
    try {
      return await work();
    } finally {
      builds.delete(build);
      if (builds.size === 0) this.#builds.delete(collection);
      if (this.#builds.size === 0) this.#rest();
    }
  }

  /**
   * The result of a change of a definition. A change that takes longer than its answer can wait goes on: it takes effect when the index is
   * there; if it fails, the representation of the type shows the error until the next attempt.
   * @returns null when an index takes longer
   */
  async answering<T>(change: Promise<T>, collection: string | undefined): Promise<T | null> {
    if (collection === undefined) return change;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => {
        if (!this.#builds.has(collection)) return;
        change.catch((error: unknown) => this.#failed.set(collection, codeOf(error)));
        resolve(null);
      }, this.#answerWithinMs);
    });
    try {
      return await Promise.race([change, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Queues work on a collection behind earlier work on it, however that ends. It is repeated while the store is unavailable.
   * @param work idempotent
   */
  inLine(collection: string, work: () => Promise<void>): Promise<void> {
    const begin = (): Promise<void> => this.#work(collection, work);
    const line = (this.#lines.get(collection) ?? Promise.resolve()).then(begin, begin);
    this.#lines.set(collection, line);
    return line.finally(() => this.#lines.get(collection) === line && this.#lines.delete(collection));
  }

  async #work(collection: string, work: () => Promise<void>): Promise<void> {
    if (this.#isClosed) return;
    try {
      await retryUntilAvailable(work, { isWanted: () => !this.#isClosed });
      this.#failedBehind.delete(collection);
    } catch (error) {
      this.#failedBehind.set(collection, codeOf(error));
      throw error;
    }
  }

  /** No more work begins: the next owner of the namespace does it. */
  close(): void {
    this.#isClosed = true;
  }

  #rest(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Without the right to see the database's operations there is no progress. */
  async #look(): Promise<void> {
    const ours = {
      'command.createIndexes': { $in: [...this.#builds.keys()] },
      'command.$db': this.#db.databaseName,
      'progress.total': { $gt: 0 },
    };
    const stages: Document[] = [{ $currentOp: {} }, { $match: ours }];
    const found = await this.#db.client
      .db('admin')
      .aggregate(stages)
      .toArray()
      .catch(() => []);
    for (const { command, progress } of found)
      for (const build of this.#builds.get(String(command.createIndexes)) ?? [])
        if ((command.indexes as Document[]).some(({ name }) => name === build.index.name))
          build.progress = Number(progress.done) / Number(progress.total);
  }
}

const codeOf = (error: unknown): string => refusalOfOne(error)?.code ?? 'cascade.server.error';

const mayBeViolated = (index: MongoIndex): boolean => index.unique === true || Object.values(index.key).includes('2dsphere');

/** Types whose indexes are being changed, by their collections, so that the next start continues after a crash. */
const changing = (db: Db): Collection<{ _id: string }> => db.collection('indexBuilds');

/**
 * Before a definition is stored: builds the indexes that instances may violate. A failure leaves all indexes as they were.
 * @throws cascade.type.index.duplicate
 */
export async function buildBefore(space: Namespace, type: TypeDefinition, isNew: boolean): Promise<void> {
  const collection = space.storage.db.collection(type.collection);
  const wanted = mongoIndexes(type);
  if (isNew) {
    // The first index makes the collection: one change of the database's catalog in place of two or more, each of which waits for the disk.
    if (wanted.length === 0) await space.storage.db.createCollection(collection.collectionName);
    else await collection.createIndexes([...wanted]);
    return;
  }
  const present = await namesOf(collection);
  const isDifferent = wanted.length !== present.length || wanted.some(({ name }) => !present.includes(name));
  if (isDifferent) await changing(space.storage.db).updateOne({ _id: type.collection }, { $set: {} }, { upsert: true });
  for (const index of wanted) {
    if (present.includes(index.name) || !mayBeViolated(index)) continue;
    if (await build(space, type, index)) continue;
    for (const name of present) if (!wanted.some((one) => one.name === name)) await collection.dropIndex(name);
    await build(space, type, index);
  }
}

/**
 * After a definition is stored, or could not be: builds the other indexes and removes those that it does not name, while the type is in
 * use.
 */
export function buildAfter(space: Namespace, { name, collection }: TypeDefinition): void {
  indexBuildsOf(space)
    .inLine(collection, () => bringTo(space, collection))
    .catch((error: unknown) =>
      space.log.error({ err: error, type: name }, 'an index could not be built: the next change of the type or the next start retries it'),
    );
}

async function bringTo(space: Namespace, name: string): Promise<void> {
  const collection = space.storage.db.collection(name);
  const present = space.catalog.types.ofCollection(name) ? await namesOf(collection) : [];
  const isUnwanted = (index: string): boolean => {
    const now = space.catalog.types.ofCollection(name);
    return now !== undefined && !mongoIndexes(now).some((one) => one.name === index) && !indexBuildsOf(space).isBuilding(name, index);
  };
  for (const index of present)
    if (isUnwanted(index)) await space.transactions.exclusive(async () => void (isUnwanted(index) && (await collection.dropIndex(index))));
  const type = space.catalog.types.ofCollection(name);
  for (const index of type ? mongoIndexes(type) : []) {
    // A later definition may need another index.
    const now = space.catalog.types.ofCollection(name);
    if (!now || present.includes(index.name) || !mongoIndexes(now).some((one) => one.name === index.name)) continue;
    await build(space, now, index).catch((error: unknown) => {
      if (space.catalog.types.ofCollection(name)) throw error; // else the collection was dropped during the build
    });
  }
  // An index build on a dropped collection creates the collection anew.
  if (!space.catalog.types.ofCollection(name)) await collection.drop();
  await changing(space.storage.db).deleteOne({ _id: name });
}

/** Continues the index builds that a crash interrupted. */
export async function resumeBuilds(space: Namespace): Promise<void> {
  for (const { _id } of await changing(space.storage.db).find().toArray()) {
    const type = space.catalog.types.ofCollection(_id) ?? space.catalog.types.get(_id); // earlier versions stored the type's name
    if (type) buildAfter(space, type);
    if (_id !== type?.collection) await changing(space.storage.db).deleteOne({ _id });
  }
}

/** Builds the indexes of a type of the service, whose collection may exist already. */
export async function buildMissing(space: Namespace, type: TypeDefinition): Promise<void> {
  const present = await namesOf(space.storage.db.collection(type.collection));
  for (const index of mongoIndexes(type)) if (!present.includes(index.name)) await build(space, type, index);
}

async function namesOf(collection: Collection): Promise<string[]> {
  return (await collection.indexes()).map(({ name }) => name as string).filter((name) => name !== '_id_');
}

/** @returns false when an index that is to be removed has the same keys */
async function build(space: Namespace, type: TypeDefinition, index: MongoIndex): Promise<boolean> {
  const { key, ...options } = index;
  return indexBuildsOf(space).during(type, index, async () => {
    try {
      await space.storage.db.collection(type.collection).createIndex(key, options);
      return true;
    } catch (error) {
      const code = error instanceof MongoServerError ? error.code : undefined;
      if (code === OPTIONS_CONFLICT) return false;
      if (code === DUPLICATE || code === CANNOT_EXTRACT_GEO_KEYS)
        throw apiError('cascade.type.index.duplicate', type.name, Object.keys(key).join(', '));
      throw error;
    }
  });
}
