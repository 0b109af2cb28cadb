// What FOR, FILTER and MAP go through, and the lazy sequences that FILTER, MAP and SELECT give (language.md 4.2, 5.2, 5.3).
import { fail } from '../errors.ts';
import { truth } from '../operators/index.ts';
import { getOwn, isObject, LocalValue, pictureOf, typeOf, type ObjectValue, type Value } from '../values/index.ts';
import { LIMITS } from './limits.ts';
import { operation } from './operations.ts';
import { chargeRows, isResultList, resultList } from './result-lists.ts';
import type { Run } from './run.ts';
import { afterError, type Cursor, drain, ListCursor, PlainCursor, Sequence } from './sequence.ts';
import { EntriesCursor, isSharedMap, snapshotOf } from './shared-objects.ts';
import { slice, type Steps } from './steps.ts';

/** The body of FILTER or MAP, or its UNTIL: a plain function or a generator, as the flags say. */
export type Closure = (element: Value) => unknown;
const BODY_SUSPENDS = 1;
const UNTIL_SUSPENDS = 2;

/** A collection of FOR: Arrays and Objects are limited, Sequences are not. */
export function iterate(run: Run, collection: Value): Cursor {
  return cursorOn(run, collection, run.options.iterations ?? LIMITS.iterations);
}

/** A reading end on whatever can be gone through; `most` as for ListCursor. */
export function cursorOn(run: Run, collection: Value, most: number): Cursor {
  if (collection === null || collection === undefined) return new ListCursor([]);
  if (Array.isArray(collection)) return new ListCursor(collection, run, most);
  if (collection instanceof Sequence) return collection.open();
  if (isObject(collection)) return new ListCursor(entriesOf(collection), run, most);
  if (isSharedMap(collection)) return new EntriesCursor(run, collection, most);
  const entries = collection instanceof LocalValue ? (collection as { entries?: () => Value[] }).entries?.() : undefined;
  return entries ? new ListCursor(entries, run, most) : fail('cascade.lang.iteration', typeOf(collection));
}

function entriesOf(object: ObjectValue): Value[] {
  return Object.keys(object).map((key) => ({ key, value: getOwn(object, key) }));
}

export const step = (cursor: Cursor): boolean => cursor.step();
export const pull = (_run: Run, cursor: Cursor): Steps<boolean> => cursor.pull();
export const value = (cursor: Cursor): Value => cursor.value;
export const close = (_run: Run, cursor: Cursor): Steps<void> => cursor.close();
export const left = (_run: Run, cursor: Cursor, error: unknown): Steps<never> => afterError(cursor, error);

/** What a block of EXECUTE or SELECT ONE goes through: a collection's elements, or the value itself (language.md X5, E6). */
export function elements(result: Value, nullCounts: boolean): Value {
  if (Array.isArray(result) || result instanceof Sequence) return result;
  return (result === null || result === undefined) && !nullCounts ? [] : [result ?? null];
}

export function filter(run: Run, collection: Value, body: Closure, until: Closure | null, flags: number): Sequence {
  return adapter(run, collection, { body, until, flags, keeps: true });
}
export function map(run: Run, collection: Value, body: Closure, until: Closure | null, flags: number): Sequence {
  return adapter(run, collection, { body, until, flags, keeps: false });
}

function adapter(run: Run, collection: Value, how: Adapter): Sequence {
  run.madeSequence = true;
  const { path, service } = run;
  const place = { path, service };
  return new Sequence(() => new AdapterCursor(run, cursorOn(run, collection, Number.POSITIVE_INFINITY), how, place));
}

interface Adapter {
  readonly body: Closure;
  readonly until: Closure | null;
  readonly flags: number;
  /** FILTER keeps the element, MAP takes the body's value. */
  readonly keeps: boolean;
}

interface Place {
  readonly path: string;
  readonly service: string | null;
}

/** FILTER and MAP: the body runs when an element is wanted. */
class AdapterCursor implements Cursor {
  value: Value = null;
  readonly #run: Run;
  readonly #source: Cursor;
  readonly #adapter: Adapter;
  /** Where the sequence was made: its bodies call and ask as the code there does, wherever they are read. */
  readonly #place: Place;
  #ended = false;
  /** UNTIL held in `step`, which cannot close the source: `pull` does. */
  #isReached = false;

  constructor(run: Run, source: Cursor, adapter: Adapter, place: Place) {
    this.#run = run;
    this.#source = source;
    this.#adapter = adapter;
    this.#place = place;
  }

  /** Without the host, as long as the source and the fuel last. */
  step(): boolean {
    const { body, until, flags } = this.#adapter;
    if (flags !== 0) return false;
    while (!this.#ended && !this.#isReached && this.#run.fuel > 0 && this.#source.step()) {
      this.#run.fuel--;
      const element = this.#source.value;
      if (until?.(element) === true) this.#isReached = true;
      else if (this.#take(element, body(element) as Value)) return true;
    }
    return false;
  }

  *pull(): Steps<boolean> {
    while (!this.#ended && !this.#isReached) {
      if (--this.#run.fuel < 0) yield* slice(this.#run);
      if (!this.#source.step() && !(yield* this.#source.pull())) break;
      const found = yield* this.#turn(this.#source.value);
      if (found === null) break;
      if (found) return true;
    }
    if (!this.#ended) yield* this.#source.close();
    this.#ended = true;
    return false;
  }

  /** One element: taken or not; null when UNTIL ends the sequence. */
  *#turn(element: Value): Steps<boolean | null> {
    const { body, until, flags } = this.#adapter;
    const run = this.#run;
    const { path, service } = run;
    run.path = this.#place.path;
    run.service = this.#place.service;
    try {
      const ends = until && (flags & UNTIL_SUSPENDS ? yield* until(element) as Steps<Value> : until(element));
      if (ends === true) return null;
      return this.#take(element, flags & BODY_SUSPENDS ? yield* body(element) as Steps<Value> : (body(element) as Value));
    } finally {
      run.path = path;
      run.service = service;
    }
  }

  *close(): Steps<void> {
    if (!this.#ended) yield* this.#source.close();
    this.#ended = true;
  }

  #take(element: Value, result: Value): boolean {
    if (!this.#adapter.keeps) this.value = result ?? null;
    else if (truth(result)) this.value = element;
    else return false;
    return true;
  }
}

/** SELECT as a Sequence: `open` at the first row, then page after page. */
export function rows(run: Run, site: number, payload: ObjectValue): Sequence {
  run.madeSequence = true;
  return new Sequence(() => new PageCursor(run, site, payload));
}

/** The same of rows whose first page is here already: `{cursor, rows, done}`. */
export function rowsAfter(run: Run, site: number, first: ObjectValue): Sequence {
  run.madeSequence = true;
  return new Sequence(() => new PageCursor(run, site, {}, first));
}

class PageCursor implements Cursor {
  value: Value = null;
  readonly #run: Run;
  readonly #site: number;
  readonly #payload: ObjectValue;
  #page: readonly Value[] = [];
  #index = 0;
  /** The host's name of the cursor: null before `open` and after the last page. */
  #cursor: Value = null;
  #opened = false;

  constructor(run: Run, site: number, payload: ObjectValue, first: ObjectValue | null = null) {
    this.#run = run;
    this.#site = site;
    this.#payload = payload;
    if (first) this.#turn(first);
  }

  step(): boolean {
    if (this.#index >= this.#page.length) return false;
    this.value = this.#page[this.#index++] ?? null;
    return true;
  }

  *pull(): Steps<boolean> {
    while (!this.step()) {
      if (this.#opened && this.#cursor === null) return false;
      const kind = this.#opened ? 'next' : 'open';
      const payload: ObjectValue = this.#opened ? { cursor: this.#cursor } : this.#payload;
      this.#turn((yield* operation(this.#run, this.#site, kind, payload, false)) as ObjectValue);
    }
    return true;
  }

  /** A page has come; the first one names the cursor. */
  #turn(answer: ObjectValue): void {
    this.#cursor = getOwn(answer, 'done') === true ? null : this.#opened ? this.#cursor : getOwn(answer, 'cursor');
    this.#opened = true;
    this.#page = getOwn(answer, 'rows') as Value[];
    chargeRows(this.#run, this.#page);
    this.#index = 0;
  }

  *close(): Steps<void> {
    const cursor = this.#cursor;
    this.#cursor = null;
    if (cursor !== null) yield* operation(this.#run, this.#site, 'close', { cursor }, false);
  }
}

/** SELECT … FROM SOURCE as a Sequence: asked when the element is wanted. */
export function sourceRows(run: Run, site: number, payload: ObjectValue): Sequence {
  run.madeSequence = true;
  return new Sequence(() => new SourceCursor(run, site, payload));
}

class SourceCursor extends PlainCursor {
  readonly #ask: () => Steps<Value>;
  #asked = false;
  constructor(run: Run, site: number, payload: ObjectValue) {
    super();
    this.#ask = () => operation(run, site, 'query', payload, false);
  }
  step(): boolean {
    return false;
  }
  override *pull(): Steps<boolean> {
    if (this.#asked) return false;
    this.#asked = true;
    this.value = yield* this.#ask();
    return true;
  }
}

/** A Sequence as an Array, other values as they are. @param isMarked the Array is to tell what it was */
export function* array(run: Run, collection: Value, isMarked = false): Steps<Value> {
  if (isSharedMap(collection)) return yield* snapshotOf(run, collection);
  if (!(collection instanceof Sequence)) return collection;
  const drained = yield* drain(collection.open(), run);
  return isMarked ? pictureOf(collection, drained) : drained;
}

/** The same where nobody can be asked: of a Sequence that a row of a SELECT has made itself. */
export function arrayNow(run: Run, collection: Value, isMarked = false): Value {
  if (!(collection instanceof Sequence)) return collection;
  const cursor = collection.open();
  const list: Value[] = [];
  while (cursor.step() || hasNow(cursor)) {
    if (list.length >= LIMITS.elements) run.exceed('cascade.execution.memory', LIMITS.elements);
    run.fuel--;
    run.charge(16);
    list.push(cursor.value);
  }
  return isMarked ? pictureOf(collection, list) : list;
}

function hasNow(cursor: Cursor): boolean {
  const { done, value } = cursor.pull().next();
  return done === true ? value : fail('cascade.lang.sequence.operation', 'a computed property');
}

/** Rows with their computed bindings (language.md E7): the same collection, each row made anew. */
export function project(collection: Value, make: (row: Value) => Value, run: Run): Value {
  if (collection instanceof Sequence) return map(run, collection, make, null, 0);
  if (!Array.isArray(collection)) return collection === null ? null : make(collection);
  const made = collection.map((row) => make(row));
  return isResultList(collection) ? resultList(made) : made;
}
