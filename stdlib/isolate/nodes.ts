// PROCESSED BY inside the isolate (language.md 7): the host carries the statement out on the nodes and gives pages of what has come; here they
// become items of a block, the deprecated array, or the value of one node.
import { CascadeError, fail } from '../errors.ts';
import { getOwn, isObject, LocalValue, type ObjectValue, setOwn, typeOf, type Value } from '../values/index.ts';
import { aggregateRows } from './aggregates.ts';
import { operation, refuseGiant } from './operations.ts';
import { chargeRows, resultList } from './result-lists.ts';
import type { Run } from './run.ts';
import { type Cursor, ListCursor, Sequence } from './sequence.ts';
import { slice, type Steps } from './steps.ts';

/** The arguments of `aggregateRows` behind the rows; null: there is nothing to gather. */
type Gathering = readonly [readonly string[], never, string, Value, Value, Value?] | null;
type Projection = ((row: Value) => Value) | null;

interface Item {
  readonly node: string;
  readonly kind: 'value' | 'error' | 'end';
  readonly value: Value;
  /** `{node, status[, error]}`, as CONTEXT TO and ON ERROR have it. */
  readonly context: ObjectValue;
}

/** One at a time, as they come. */
class ItemReader {
  readonly #run: Run;
  readonly #site: number;
  readonly #asked: ObjectValue;
  readonly #gathering: Gathering;
  readonly #projection: Projection;
  #page: Item[] = [];
  #index = 0;
  #cursor: Value = null;
  #isOpen = false;

  constructor(run: Run, site: number, asked: ObjectValue, gathering: Gathering, projection: Projection) {
    this.#run = run;
    this.#site = site;
    this.#asked = asked;
    this.#gathering = gathering;
    this.#projection = projection;
  }

  /** Null at the end. */
  *next(): Steps<Item | null> {
    while (this.#index >= this.#page.length) {
      if (this.#isOpen && this.#cursor === null) return null;
      const payload = this.#isOpen ? { ...this.#asked, cursor: this.#cursor } : this.#asked;
      if (!this.#isOpen) requireStatement(this.#run, getOwn(this.#asked, 'statement'));
      const page = (yield* operation(this.#run, this.#site, this.#isOpen ? 'nodeNext' : 'nodeOpen', payload, false)) as ObjectValue;
      this.#isOpen = true;
      this.#cursor = getOwn(page, 'cursor');
      this.#index = 0;
      this.#page = yield* this.#items(page);
    }
    return this.#page[this.#index++] ?? null;
  }

  *close(): Steps<void> {
    const cursor = this.#cursor;
    this.#cursor = null;
    this.#page = [];
    if (cursor !== null) yield* operation(this.#run, this.#site, 'nodeClose', { cursor }, false);
  }

  *#items(page: ObjectValue): Steps<Item[]> {
    const records = getOwn(page, 'nodes') as ObjectValue;
    const found = getOwn(page, 'items') as Value[][];
    chargeRows(this.#run, found);
    const items: Item[] = [];
    for (const [name, kind, value = null] of found as [string, Item['kind'], Value?][]) {
      if (--this.#run.fuel < 0) yield* slice(this.#run);
      const node = getOwn(records, name);
      if (kind === 'error') {
        const { code, message, params } = value as Record<'code' | 'message' | 'params', Value>;
        items.push({ node: name, kind, value, context: { node, status: 'FAILURE', error: { code, message, params } } });
      } else {
        const context = { node, status: 'SUCCESS' };
        for (const one of kind === 'end' ? [null] : yield* this.#values(value)) items.push({ node: name, kind, value: one, context });
      }
    }
    return items;
  }

  *#values(value: Value): Steps<Value[]> {
    const made = this.#projection;
    const shaped = (row: Value): Value => (made && isObject(row) ? made(row) : row);
    if (!this.#gathering) return [shaped(value)];
    const rows = new Sequence(() => new ListCursor(Array.isArray(value) ? value : []));
    const gathered = yield* aggregateRows(this.#run, rows, ...this.#gathering);
    return Array.isArray(gathered) ? gathered.map(shaped) : gathered === null ? [] : [shaped(gathered)];
  }
}

/** @throws cascade.lang.sequence.embedded, cascade.federation.value: only data goes to a node (integrations.md 11.3) */
function requireStatement(run: Run, statement: Value): void {
  refuseGiant(run, statement);
  requireData(statement);
}

function requireData(value: Value): void {
  if (value instanceof Sequence) fail('cascade.lang.sequence.embedded', 'a statement for nodes');
  if (typeof value === 'function' || (value instanceof LocalValue && value.data() === undefined))
    throw new CascadeError(
      'cascade.federation.value',
      `The statement cannot run on nodes: ${typeOf(value)} is no data.`,
      [`${typeOf(value)} is no data`],
      400,
    );
  if (Array.isArray(value)) for (const element of value) requireData(element);
  else if (isObject(value)) for (const key of Object.keys(value)) requireData(getOwn(value, key));
}

/** What the blocks of a statement go through: `{ok, value, context}`. */
export function nodeItems(run: Run, site: number, asked: ObjectValue, gathering: Gathering, projection: Projection): Sequence {
  run.madeSequence = true;
  return new Sequence(() => new ItemCursor(new ItemReader(run, site, asked, gathering, projection)));
}

class ItemCursor implements Cursor {
  value: Value = null;
  readonly #items: ItemReader;
  constructor(items: ItemReader) {
    this.#items = items;
  }

  step(): boolean {
    return false;
  }

  *pull(): Steps<boolean> {
    for (;;) {
      const item = yield* this.#items.next();
      if (item === null) return false;
      if (item.kind === 'end') continue;
      this.value = { ok: item.kind === 'value', value: item.kind === 'value' ? item.value : null, context: item.context };
      return true;
    }
  }

  *close(): Steps<void> {
    yield* this.#items.close();
  }
}

/** The deprecated array form (D9): `{results, status}`, both by the nodes' names. @param isFlat rows of all nodes are one list */
export function* nodeResults(
  run: Run,
  site: number,
  asked: ObjectValue,
  gathering: Gathering,
  projection: Projection,
  isFlat: boolean,
): Steps<ObjectValue> {
  const reader = new ItemReader(run, site, asked, gathering, projection);
  const nodes = new Map<string, { values: Value[]; context: ObjectValue; failed: boolean }>();
  for (let item = yield* reader.next(); item !== null; item = yield* reader.next()) {
    const node = nodes.get(item.node) ?? { values: [], context: item.context, failed: false };
    nodes.set(item.node, node);
    if (item.kind === 'value') node.values.push(item.value);
    if (item.kind !== 'error') continue;
    node.context = item.context;
    node.failed = true;
  }
  const inOrder = [...nodes.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, node]) => node);
  const values = inOrder.flatMap((node) => (node.failed ? [] : node.values));
  const result: ObjectValue = {};
  setOwn(result, 'results', isFlat ? resultList(values) : values);
  setOwn(
    result,
    'status',
    inOrder.map(({ context }) => context),
  );
  return result;
}

/** The value of the one node, its error thrown (D10). @param isList rows, of which there may be none */
export function* nodeValue(
  run: Run,
  site: number,
  asked: ObjectValue,
  gathering: Gathering,
  projection: Projection,
  isList: boolean,
): Steps<Value> {
  const reader = new ItemReader(run, site, asked, gathering, projection);
  const values: Value[] = [];
  for (let item = yield* reader.next(); item !== null; item = yield* reader.next()) {
    if (item.kind === 'error') throw errorOf(item.value as ObjectValue);
    if (item.kind === 'value') values.push(item.value);
  }
  return isList ? resultList(values) : (values[0] ?? null);
}

function errorOf(error: ObjectValue): CascadeError {
  const { code, message, params, status } = error as Record<'code' | 'message' | 'params' | 'status', Value>;
  return new CascadeError(String(code), String(message), Array.isArray(params) ? params : [], Number(status ?? 500));
}
