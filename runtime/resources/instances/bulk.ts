// A statement over many instances: read in batches of bounded size, stored piece by piece. Each piece is a part of the statement whose
// note says how far it has come, so that a repetition after a crash goes on behind it (mechanisms: UPDATE and DELETE of many).

import type { Document } from 'mongodb';
import { CascadeError } from '../../../stdlib/errors.ts';
import { decodeInner, encodeInner, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../../stdlib/values/index.ts';
import type { Actor } from '../../actor.ts';
import { DocumentRefused, DuplicateKey, type Unit, VersionMiss } from '../../commit/index.ts';
import { fault } from '../../faults.ts';
import { idToBson, instanceFromBson } from '../../values/index.ts';
import { instanceEvent, raise } from '../events.ts';
import type { InstanceResource, Namespace } from '../types.ts';
import { timeLimit } from './time-limit.ts';

const BATCH = 1_000;
/** Of the stored documents of a batch. */
const BATCH_BYTES = 4_000_000;
/** Failures that one statement may collect for its ON ERROR. */
const MOST_FAILED = 10_000;

export interface Failed {
  readonly error: CascadeError;
  readonly instance: ObjectValue;
}

export class BulkWalk {
  readonly #actor: Actor;
  readonly #resource: InstanceResource;
  /** Instances stored so far. */
  count = 0;
  readonly failed: Failed[] = [];
  #after: Value = null;
  #parts = 0;
  /** Failures before this one stand in the notes. */
  #noted = 0;

  constructor(resource: InstanceResource, actor: Actor) {
    this.#actor = actor;
    this.#resource = resource;
    const notes = [...(actor.parts ?? [])].sort(([a], [b]) => a - b);
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

  /** The matches in the order of their ids, a batch at a time, from where the walk stands; what is changed does not lengthen it. */
  async *batches(space: Namespace, filter: Document): AsyncGenerator<ObjectValue[]> {
    for (let after = this.#after; ; ) {
      const rest = after === null ? filter : { $and: [filter, { _id: { $gt: idToBson(after) } }] };
      const batch = await readBatch(space, this.#resource, rest);
      const last = batch[batch.length - 1];
      if (!last) return;
      after = getOwn(last, '_id');
      yield batch;
    }
  }

  fail(error: CascadeError, instance: ObjectValue): void {
    if (this.failed.length >= MOST_FAILED) throw fault('cascade.execution.memory', `/types/${this.#resource.name}`, MOST_FAILED);
    this.failed.push({ error, instance });
  }

  /**
   * Stores the changes of a piece of a batch; the walk then stands behind `last`, the piece's last instance.
   * @param along what happens together with them and is not counted
   */
  async store(writes: Unit['writes'], last: ObjectValue, along: Unit): Promise<void> {
    const after = getOwn(last, '_id');
    const failed = this.failed.slice(this.#noted).map(toNote);
    const note = encodeInner({ after, count: writes.length, failed });
    await this.#actor.commit({ writes: [...writes, ...along.writes], events: along.events }, undefined, { number: this.#parts, note });
    this.#parts++;
    this.#noted = this.failed.length;
    this.#after = after;
    this.count += writes.length;
  }

  /** Ends the statement: one event for all (language.md U5), none when nothing was hit. */
  async end(space: Namespace, operation: 'update' | 'delete', where: Value): Promise<void> {
    const { type } = this.#resource;
    const value: ObjectValue = { ars_bulkOperation: true, qual: shortened(where), count: this.count };
    const events =
      this.count === 0 || type.rulesSuppressed ? [] : raise(space, instanceEvent(this.#resource, operation), value, this.#actor);
    await this.#actor.commit({ writes: [], events }, { ok: String(this.count) });
  }
}

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
  error instanceof VersionMiss || error instanceof DuplicateKey || error instanceof DocumentRefused || error instanceof CascadeError;

async function readBatch(space: Namespace, resource: InstanceResource, filter: Document): Promise<ObjectValue[]> {
  const rows = space.rows.find(resource.collection, { filter, sort: { _id: 1 }, limit: BATCH, ...timeLimit(filter) });
  const batch: ObjectValue[] = [];
  let bytes = 0;
  try {
    while (!rows.isDone && bytes < BATCH_BYTES)
      for (const raw of await rows.next()) {
        batch.push(instanceFromBson(resource.type, raw));
        bytes += raw.length;
      }
  } finally {
    await rows.close();
  }
  return batch;
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
