// Aggregates of a SELECT over expressions (language.md E8): the host gives the rows, they are gathered by key here.
import { type Accumulator, type AggregateName, accumulator } from '../builtins/index.ts';
import { getOwn, isInteger, isObject, type ObjectValue, setOwn, type Value } from '../values/index.ts';
import { equalText } from '../operators/index.ts';
import { CascadeError } from '../errors.ts';
import { resultList } from './result-lists.ts';
import type { Run } from './run.ts';
import { type Cursor, ListCursor, Sequence, toTheEnd } from './sequence.ts';
import { slice, type Steps } from './steps.ts';

/** Name in the result, function, and what it takes of a row, by a path or an expression; null counts the rows. */
type Wanted = readonly [name: string, fn: AggregateName, read: ((row: Value) => Value) | string | null];
interface Group {
  readonly key: ObjectValue;
  /** In the order of what is wanted. */
  readonly accumulators: readonly Accumulator[];
}

/** What a group takes in memory beside its key's text and the value that an accumulator may hold, about. */
const GROUP_BYTES = 200;
const ACCUMULATOR_BYTES = 100;
/** Bounds of the rows of an Array (language.md E3), as the host has them for rows that it reads. */
const ARRAY_ROWS = 1_000;
const MOST_ARRAY_ROWS = 10_000;

/**
 * One row for each distinct combination of the grouped paths, in order of appearance; without them just one.
 * @param cardinality as in a SELECT's request; 'rows': of a node, whose rows have no bound of their own
 * @param resource for errors
 */
export function* aggregateRows(
  run: Run,
  rows: Sequence,
  groupBy: readonly string[],
  wanted: readonly Wanted[],
  cardinality: string,
  limit: Value,
  skip: Value,
  resource: Value = null,
): Steps<Value> {
  const cursor = rows.open();
  const groups = yield* toTheEnd(cursor, grouped(run, cursor, groupBy, wanted));
  const made = [...groups.values()].map((group) => rowOf(group, wanted));
  if (cardinality === 'one' || cardinality === 'exactlyOne') return single(made, cardinality, resource);
  const from = whole('skip', skip) ?? 0;
  const most = whole('limit', limit) ?? (cardinality === 'array' ? ARRAY_ROWS : made.length);
  if (most > MOST_ARRAY_ROWS && limit !== null && cardinality !== 'sequence') throw outOfRange('limit');
  const shown = made.slice(from, from + most);
  if (cardinality !== 'sequence') return resultList(shown);
  run.madeSequence = true;
  return new Sequence(() => new ListCursor(shown));
}

function* grouped(run: Run, cursor: Cursor, groupBy: readonly string[], wanted: readonly Wanted[]): Steps<Map<string, Group>> {
  const groups = new Map<string, Group>();
  const begin = (key: ObjectValue): Group => ({
    key,
    accumulators: wanted.map(([name, fn, read]) => accumulator(read ? fn : 'count', name)),
  });
  const groupOf = (row: Value): Group => {
    const key: ObjectValue = {};
    for (const path of groupBy) setOwn(key, path, valueAt(row, path));
    const id = equalText(key);
    let group = groups.get(id);
    if (!group) {
      groups.set(id, (group = begin(key)));
      run.charge(GROUP_BYTES + id.length * 2 + wanted.length * ACCUMULATOR_BYTES);
    }
    return group;
  };
  const only = groupBy.length === 0 ? begin({}) : null;
  if (only) groups.set('{}', only);
  while (cursor.step() || (yield* cursor.pull())) {
    if (--run.fuel < 0) yield* slice(run);
    const group = only ?? groupOf(cursor.value);
    for (const [index, [, , read]] of wanted.entries()) group.accumulators[index]?.add(read === null ? true : taken(cursor.value, read));
  }
  return groups;
}

function rowOf({ key, accumulators }: Group, wanted: readonly Wanted[]): ObjectValue {
  const row: ObjectValue = { ...key };
  for (const [index, [name]] of wanted.entries()) setOwn(row, name, accumulators[index]?.result() ?? null);
  return row;
}

const taken = (row: Value, read: ((row: Value) => Value) | string): Value =>
  (typeof read === 'string' ? valueAt(row, read) : read(row)) ?? null;

/** As the host reads the paths of the aggregates that it works out: what is not there is null. */
function valueAt(row: Value, path: string): Value {
  return path.split('.').reduce<Value>((value, step) => (isObject(value) ? getOwn(value, step) : null), row);
}

/** `limit`, `skip` (E11). */
function whole(name: string, value: Value): number | null {
  if (value === null) return null;
  if (isInteger(value) && Number(value) >= 0) return Number(value);
  throw outOfRange(name);
}

const outOfRange = (name: string): CascadeError =>
  new CascadeError('cascade.query.limit.range', `${name} must be between 0 and ${MOST_ARRAY_ROWS}.`, [name, 0, MOST_ARRAY_ROWS]);

/** The row of a SELECT ONE (E2). @throws cascade.query.not.unique, cascade.resource.not.found */
function single(made: readonly ObjectValue[], cardinality: 'one' | 'exactlyOne', resource: Value): ObjectValue | null {
  if (made.length > 1)
    throw new CascadeError('cascade.query.not.unique', `The condition matches more than one instance of ${resource}.`, [resource], 400);
  if (made.length === 0 && cardinality === 'exactlyOne')
    throw new CascadeError('cascade.resource.not.found', `/${resource} was not found.`, [`/${resource}`], 404);
  return made[0] ?? null;
}
