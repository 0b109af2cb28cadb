// A statement over many instances: it reads batches of bounded size and stores them piece by piece. Each piece stores a checkpoint of the
// statement, behind which a repetition after a crash goes on (mechanisms: UPDATE and DELETE of many). The last piece carries the
// statement's event and its answer, so that a statement with a single batch is a single commit.

import type { Document } from 'mongodb';
import { CascadeError } from '../../stdlib/errors.ts';
import { decodeInner, encodeInner, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { type Actor, startingAs } from '../../runtime/context/index.ts';
import { DocumentRefused, DuplicateKey, type StoredEvent, type UnitOfWork, VersionConflict } from '../../runtime/transactions/index.ts';
import { apiError, isApiError } from '../../model/errors/index.ts';
import { timeLimit } from '../../platform/mongo/index.ts';
import { idToBson } from '../../model/values/index.ts';
import { toWireError } from '../../runtime/runs/index.ts';
import { auditOfMany } from '../access/index.ts';
import { instanceEvent, raise } from '../../runtime/events/index.ts';
import { idOf, versionOf } from '../representation/index.ts';
import type { InstanceResource, Namespace } from '../catalog/index.ts';
import { instanceIn } from './in-pieces.ts';

/** Bounds of a batch: instances, and about so many bytes of them. */
export const BATCH = { instances: 1_000, bytes: 4_000_000 };
/** Bound of the failures that one statement collects for its ON ERROR. */
const MOST_FAILED = 10_000;

export interface Failed {
  readonly error: CascadeError;
  readonly instance: ObjectValue;
}

export interface Batch {
  readonly instances: readonly ObjectValue[];
  /** No batch follows. */
  readonly isLast: boolean;
}

export interface BulkStatement {
  readonly operation: 'update' | 'delete';
  readonly where: Value;
  /** The predicate as a filter of the store. */
  readonly filter: Document;
  /** The result of the statement, as inner JSON. */
  readonly resultOf: (count: number, failed: readonly Failed[]) => Promise<string> | string;
}

export class BulkWalk {
  readonly #space: Namespace;
  readonly #actor: Actor;
  readonly #resource: InstanceResource;
  readonly #statement: BulkStatement;
  /** Number of instances stored so far. */
  count = 0;
  readonly failed: Failed[] = [];
  /** What one deletion has deleted, when it is the only one: its event is that of the instance (resources-and-api.md 2.7). */
  only: { readonly shown: ObjectValue; readonly stored: ObjectValue | null } | null = null;
  /** The id of the last instance that was read. */
  #after: Value = null;
  #parts = 0;
  /** Index of the first failure that no checkpoint holds yet. */
  #noted = 0;
  #hasEnded = false;

  constructor(space: Namespace, resource: InstanceResource, statement: BulkStatement, actor: Actor) {
    this.#space = space;
    this.#actor = actor;
    this.#resource = resource;
    this.#statement = statement;
    const notes = [...(actor.checkpoints ?? [])].sort(([a], [b]) => a - b);
    for (const [number, text] of notes) {
      const note = decodeInner(text) as ObjectValue;
      this.#parts = number + 1;
      this.#after = getOwn(note, 'after');
      this.count += Number(getOwn(note, 'count'));
      for (const one of getOwn(note, 'failed') as ObjectValue[]) this.failed.push(fromNote(one));
    }
    this.#noted = this.failed.length;
  }

  /** Whether an earlier attempt has stored something: then the statement counts as one over many, however few are left. */
  get hasBegun(): boolean {
    return this.#parts > 0;
  }

  /** Whether its parts are recorded, so that it goes on behind them after a crash. */
  get isRecorded(): boolean {
    return this.#actor.childRunIds !== null;
  }

  /**
   * The next batch in the order of ids, from the present position; instances that are inserted behind it are read, too, changed ones are
   * not read again.
   */
  async read(): Promise<Batch> {
    const { filter } = this.#statement;
    const rest = this.#after === null ? filter : { $and: [filter, { _id: { $gt: idToBson(this.#after) } }] };
    const batch = await readBatch(this.#space, this.#resource, rest);
    const last = batch.instances[batch.instances.length - 1];
    if (last) this.#after = getOwn(last, '_id');
    return batch;
  }

  /**
   * Carries the statement to its end, or to an error; then one event reports the changes that were stored.
   * @param change stores a batch, in one piece or several
   */
  async through(first: Batch, change: (batch: Batch) => Promise<void>): Promise<void> {
    try {
      for (let batch = first; ; batch = await this.read()) {
        await change(batch);
        if (batch.isLast) break;
      }
      if (!this.#hasEnded) await this.#end(NOTHING);
    } catch (error) {
      if (this.count > 0 && !this.#hasEnded && isApiError(error))
        await this.#actor.commit({ writes: this.#audit(this.count), events: this.#events(this.count) }, { error: toWireError(error) });
      throw error;
    }
  }

  /**
   * The actor for one instance: effects of its BEFORE rules are recorded under the instance's name, so that a repetition finds them
   * whatever came before.
   */
  on(instance: ObjectValue): Actor {
    return startingAs(this.#actor, `${idOf(instance)}.${versionOf(instance)}`);
  }

  fail(error: CascadeError, instance: ObjectValue): void {
    if (this.failed.length >= MOST_FAILED) throw apiError('cascade.execution.memory', `/types/${this.#resource.name}`, MOST_FAILED);
    this.failed.push({ error, instance });
  }

  /**
   * Stores the changes of a piece of a batch, and moves the position behind `last`, the piece's last instance.
   * @param along additional changes that are not counted
   * @param ends the piece ends the statement
   */
  async store(writes: UnitOfWork['writes'], last: ObjectValue, along: UnitOfWork, ends: boolean): Promise<void> {
    const unit = { writes: [...writes, ...along.writes], events: along.events };
    if (ends) await this.#end(unit, writes.length);
    else {
      const failed = this.failed.slice(this.#noted).map(toNote);
      const note = encodeInner({ after: getOwn(last, '_id'), count: writes.length, failed });
      await this.#actor.commit(unit, undefined, { number: this.#parts, note });
      this.#parts++;
      this.#noted = this.failed.length;
    }
    this.count += writes.length;
  }

  async #end({ writes, events }: UnitOfWork, more = 0): Promise<void> {
    const count = this.count + more;
    const ok = await this.#statement.resultOf(count, this.failed);
    await this.#actor.commit({ writes: [...writes, ...this.#audit(count)], events: [...events, ...this.#events(count)] }, { ok });
    this.#hasEnded = true;
  }

  #audit(count: number): UnitOfWork['writes'] {
    return count === 0 ? [] : auditOfMany(this.#space, this.#resource, this.#statement.operation, this.#actor);
  }

  /** One event for all changes (language.md U5), none when nothing was changed. */
  #events(count: number): StoredEvent[] {
    const { operation, where } = this.#statement;
    if (count === 0 || this.#resource.type.rulesSuppressed) return [];
    const path = instanceEvent(this.#resource, operation);
    if (count === 1 && this.only) return raise(this.#space, path, this.only.shown, this.#actor, { stored: this.only.stored });
    return raise(this.#space, path, { ars_bulkOperation: true, qual: shortened(where), count }, this.#actor);
  }
}

const NOTHING: UnitOfWork = { writes: [], events: [] };

/** The usual notation of a condition: an equality that a program computed becomes the value itself (language.md W11). */
function shortened(where: Value): Value {
  if (Array.isArray(where)) return where.map(shortened);
  if (!isObject(where)) return where;
  const short: ObjectValue = {};
  for (const key of Object.keys(where)) {
    const operand = getOwn(where, key);
    const equal =
      isObject(operand) && Object.keys(operand).length === 1 && Object.hasOwn(operand, '$eq') ? getOwn(operand, '$eq') : operand;
    setOwn(short, key, isObject(equal) || Array.isArray(equal) ? shortened(operand) : equal);
  }
  return short;
}

/** Whether a piece was refused because of single instances, so that smaller pieces may succeed. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof VersionConflict || error instanceof DuplicateKey || error instanceof DocumentRefused || error instanceof CascadeError;

async function readBatch(space: Namespace, resource: InstanceResource, filter: Document): Promise<Batch> {
  const most = BATCH.instances;
  const rows = space.storage.rows.find(resource.collection, { filter, sort: { _id: 1 }, limit: most + 1, ...timeLimit(filter) });
  const instances: ObjectValue[] = [];
  let bytes = 0;
  try {
    while (!rows.isDone && bytes < BATCH.bytes)
      for (const raw of await rows.next()) {
        if (instances.length === most) return { instances, isLast: false };
        const instance = instanceIn(space, resource.type, raw);
        instances.push(instance instanceof Promise ? await instance : instance);
        bytes += raw.length;
      }
    return { instances, isLast: rows.isDone };
  } finally {
    await rows.close();
  }
}

const toNote = ({ error, instance }: Failed): Value => ({
  code: error.code,
  message: error.message,
  params: error.params as Value,
  status: error.status,
  instance,
});

function fromNote(note: ObjectValue): Failed {
  const params = getOwn(note, 'params') as Value[];
  const error = new CascadeError(String(getOwn(note, 'code')), String(getOwn(note, 'message')), params, Number(getOwn(note, 'status')));
  return { error, instance: getOwn(note, 'instance') as ObjectValue };
}
