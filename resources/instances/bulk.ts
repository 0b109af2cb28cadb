// A statement over many instances: read in batches of bounded size, stored piece by piece. Each piece is a part of the statement whose
// note says how far it has come, so that a repetition after a crash goes on behind it (mechanisms: UPDATE and DELETE of many). The last piece
// carries the statement's event and its answer: what fits in one batch is one batch.

import type { Document } from 'mongodb';
import { CascadeError } from '../../stdlib/errors.ts';
import { decodeInner, encodeInner, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { DocumentRefused, DuplicateKey, type StoredEvent, type UnitOfWork, VersionConflict } from '../../runtime/transactions/index.ts';
import { apiError, isApiError } from '../../model/errors/index.ts';
import { idToBson, instanceFromBson } from '../../model/values/index.ts';
import { toWireError } from '../../runtime/runs/index.ts';
import { auditOfMany } from '../access/index.ts';
import { instanceEvent, raise } from '../../runtime/events/index.ts';
import { idOf, versionOf } from '../representation/index.ts';
import type { InstanceResource, Namespace } from '../catalog/index.ts';
import { timeLimit } from './time-limit.ts';

/** Instances that are read and stored at a time, and about so many bytes of them. */
export const BATCH = { instances: 1_000, bytes: 4_000_000 };
/** Failures that one statement may collect for its ON ERROR. */
const MOST_FAILED = 10_000;

export interface Failed {
  readonly error: CascadeError;
  readonly instance: ObjectValue;
}

export interface Batch {
  readonly instances: readonly ObjectValue[];
  /** There are no more of them. */
  readonly isLast: boolean;
}

export interface BulkStatement {
  readonly operation: 'update' | 'delete';
  readonly where: Value;
  /** The same for the store. */
  readonly filter: Document;
  /** What the statement gives, as inner JSON. */
  readonly resultOf: (count: number, failed: readonly Failed[]) => Promise<string> | string;
}

export class BulkWalk {
  readonly #space: Namespace;
  readonly #actor: Actor;
  readonly #resource: InstanceResource;
  readonly #statement: BulkStatement;
  /** Instances stored so far. */
  count = 0;
  readonly failed: Failed[] = [];
  /** The last instance that was read. */
  #after: Value = null;
  #parts = 0;
  /** Failures before this one stand in the notes. */
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

  /** An earlier try has stored something: the statement is one over many, whatever is left of them. */
  get hasBegun(): boolean {
    return this.#parts > 0;
  }

  /** Its parts are recorded: after a crash it goes on behind them. */
  get isRecorded(): boolean {
    return this.#actor.childRunIds !== null;
  }

  /** The next matches in the order of their ids, from where the walk stands; what is changed does not lengthen it. */
  async read(): Promise<Batch> {
    const { filter } = this.#statement;
    const rest = this.#after === null ? filter : { $and: [filter, { _id: { $gt: idToBson(this.#after) } }] };
    const batch = await readBatch(this.#space, this.#resource, rest);
    const last = batch.instances[batch.instances.length - 1];
    if (last) this.#after = getOwn(last, '_id');
    return batch;
  }

  /**
   * Brings the statement to its end, or to an error: one event then tells of what was stored until then.
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

  /** Who acts on one instance: what its BEFORE rules do is recorded by its name, which a repetition finds whatever came before. */
  on(instance: ObjectValue): Actor {
    const { childRunIds } = this.#actor;
    return childRunIds ? { ...this.#actor, childRunIds: childRunIds.of(`${idOf(instance)}.${versionOf(instance)}`) } : this.#actor;
  }

  fail(error: CascadeError, instance: ObjectValue): void {
    if (this.failed.length >= MOST_FAILED) throw apiError('cascade.execution.memory', `/types/${this.#resource.name}`, MOST_FAILED);
    this.failed.push({ error, instance });
  }

  /**
   * Stores the changes of a piece of a batch; the walk then stands behind `last`, the piece's last instance.
   * @param along what happens together with them and is not counted
   * @param ends nothing follows: the piece ends the statement
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

  /** One event for all (language.md U5), none when nothing was hit. */
  #events(count: number): StoredEvent[] {
    const { operation, where } = this.#statement;
    if (count === 0 || this.#resource.type.rulesSuppressed) return [];
    const value: ObjectValue = { ars_bulkOperation: true, qual: shortened(where), count };
    return raise(this.#space, instanceEvent(this.#resource, operation), value, this.#actor);
  }
}

const NOTHING: UnitOfWork = { writes: [], events: [] };

/** A condition as one would write it: what a program compares for equality stands as the value itself (language.md W11). */
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

/** Whether a piece was refused for what single instances of it are: smaller ones may do. */
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
        instances.push(instanceFromBson(resource.type, raw));
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
