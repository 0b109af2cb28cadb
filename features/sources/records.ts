// Stored records of sources besides their definitions: the state of the consumer, for other processes; records of protocols; keys of recent
// messages, so that a repeated message raises no second event.
import { createHash } from 'node:crypto';
import { type Binary, type Db, ObjectId } from 'mongodb';
import type { Cipher } from '../../model/types/index.ts';
import { decodeInner, encodeInner, type ObjectValue } from '../../stdlib/values/index.ts';
import type { Write } from '../../runtime/transactions/index.ts';

const STATES = 'sourceStates';
const STORE = 'sourceStore';
const SEEN = 'sourceSeen';
/** A message key is remembered for so long (integrations.md 6.2). */
const KEY_COUNTS_MS = 600_000;

/** The state of a source as the process that consumes it reports it. */
export interface ConsumerState {
  readonly epoch: number;
  readonly state: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly since: number;
  readonly attempts: number;
  readonly nextAttemptAt: number | null;
  readonly isUnavailable: boolean;
  readonly leaseUntil: number;
}

interface StateDocument extends Partial<ConsumerState> {
  readonly _id: string;
  readonly polledAt?: number | null;
}

interface StoreDocument {
  /** `<source>/<key>`. */
  readonly _id: string;
  readonly inner?: string;
  readonly sealed?: Binary;
}

export class SourceRecords {
  readonly #db: Db;
  #indexed: Promise<unknown> | null = null;

  constructor(db: Db) {
    this.#db = db;
  }

  async consumer(source: string): Promise<ConsumerState | null> {
    const found = await this.#db.collection<StateDocument>(STATES).findOne({ _id: source });
    return found?.epoch === undefined ? null : (found as unknown as ConsumerState);
  }

  async noteConsumer(source: string, state: ConsumerState): Promise<void> {
    await this.#db.collection<StateDocument>(STATES).updateOne({ _id: source }, { $set: { ...state } }, { upsert: true });
  }

  async polledAt(source: string): Promise<number | null> {
    return (await this.#db.collection<StateDocument>(STATES).findOne({ _id: source }))?.polledAt ?? null;
  }

  /** Stores when the last poll of each source began; null deletes the time. */
  async notePolls(began: ReadonlyMap<string, number | null>): Promise<void> {
    const updates = [...began].map(([source, polledAt]) => ({
      updateOne: { filter: { _id: source }, update: { $set: { polledAt } }, upsert: true },
    }));
    await this.#db.collection<StateDocument>(STATES).bulkWrite(updates, { ordered: false });
  }

  // ---------------------------------------------------------------- records of protocols
  async put(source: string, key: string, value: ObjectValue): Promise<void> {
    await this.#store().replaceOne({ _id: `${source}/${key}` }, { inner: encodeInner(value) }, { upsert: true });
  }

  async get(source: string, key: string): Promise<ObjectValue | null> {
    const found = await this.#store().findOne({ _id: `${source}/${key}` });
    return found?.inner === undefined ? null : (decodeInner(found.inner) as ObjectValue);
  }

  async remove(source: string, key: string): Promise<void> {
    await this.#store().deleteOne({ _id: `${source}/${key}` });
  }

  async all(source: string, prefix: string): Promise<[string, ObjectValue][]> {
    const from = `${source}/${prefix}`;
    const rows = await this.#store()
      .find({ _id: { $gte: from, $lt: `${from}\uffff` } })
      .sort({ _id: 1 })
      .toArray();
    return rows.flatMap(({ _id, inner }) =>
      inner === undefined ? [] : [[_id.slice(source.length + 1), decodeInner(inner) as ObjectValue] as [string, ObjectValue]],
    );
  }

  async seal(cipher: Cipher, source: string, key: string, text: string | null): Promise<void> {
    const _id = `${source}/${key}`;
    if (text === null) await this.#store().deleteOne({ _id });
    else await this.#store().replaceOne({ _id }, { sealed: cipher.seal(encodeInner(text), _id) as never }, { upsert: true });
  }

  /** Stores a sealed text unless there is one: of concurrent calls the first wins. @returns the stored text */
  async sealOnce(cipher: Cipher, source: string, key: string, text: string): Promise<string> {
    const _id = `${source}/${key}`;
    const sealed = cipher.seal(encodeInner(text), _id) as never;
    await this.#store().updateOne({ _id }, { $setOnInsert: { sealed } }, { upsert: true });
    return (await this.unseal(cipher, source, key)) ?? text;
  }

  async unseal(cipher: Cipher, source: string, key: string): Promise<string | null> {
    const _id = `${source}/${key}`;
    const found = await this.#store().findOne({ _id });
    return found?.sealed === undefined ? null : (decodeInner(cipher.open(found.sealed.buffer, _id)) as string);
  }

  // ---------------------------------------------------------------- message keys
  /** A write for the commit of the message's event: of two messages with one key the second commit fails with DuplicateKey. */
  async keyWrite(source: string, key: string, now: number): Promise<Write> {
    this.#indexed ??= this.#db.collection(SEEN).createIndex({ at: 1 }, { expireAfterSeconds: KEY_COUNTS_MS / 1_000 });
    await this.#indexed.catch((error: unknown) => {
      this.#indexed = null;
      throw error;
    });
    return { op: 'insert', collection: SEEN, document: { _id: keyId(source, key), source, at: new Date(now) } };
  }

  /** Whether the key has not expired; an expired one is removed. */
  async countsStill(source: string, key: string, now: number): Promise<boolean> {
    const outdated = { _id: keyId(source, key), at: { $lt: new Date(now - KEY_COUNTS_MS) } };
    return (await this.#db.collection(SEEN).deleteOne(outdated)).deletedCount === 0;
  }

  /** Removes the records of a source that was deleted. */
  async forget(source: string): Promise<void> {
    await this.#db.collection<StateDocument>(STATES).deleteOne({ _id: source });
    await this.#store().deleteMany({ _id: { $gte: `${source}/`, $lt: `${source}0` } }); // '0' follows '/' in the order of characters
    await this.#db.collection(SEEN).deleteMany({ source });
  }

  #store() {
    return this.#db.collection<StoreDocument>(STORE);
  }
}

const keyId = (source: string, key: string): ObjectId =>
  new ObjectId(createHash('sha256').update(`${source}\0${key}`).digest().subarray(0, 12));
