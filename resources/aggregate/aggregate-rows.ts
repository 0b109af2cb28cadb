// Aggregates of a SELECT (language.md E8, E9; builtins.md 16): rows are grouped by key, and the aggregate functions are the built-ins of
// the same names. Of the rows nothing is kept but one value a group and aggregate, and that is counted.

import { type Accumulator, accumulator } from '../../stdlib/builtins/index.ts';
import type { AggregateName } from '../../stdlib/isolate/index.ts';
import { getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import type { Held } from '../../platform/mongo/index.ts';
import { inSlices, resultsOf } from '../../platform/structures/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { innerValue, type WalkPage } from '../instances/index.ts';
import { groupKey } from './group-key.ts';

/** Name in the result, function and path; without a path the rows are counted. */
export type WantedAggregate = readonly [name: string, of: readonly [fn: AggregateName, path: string | null]];

interface Group {
  readonly key: ObjectValue;
  /** In the order of what is wanted. */
  readonly columns: readonly Column[];
}

interface Column {
  readonly all: Accumulator;
  /** What the value takes that the accumulator holds. */
  bytes: number;
}

/** What a group takes in memory beside its key's text and the values that are held, about. */
const GROUP_BYTES = 300;
const COLUMN_BYTES = 100;
/** As many are made into rows without a pause. */
const FEW_GROUPS = 1_000;

/**
 * One row for each distinct combination of the grouped paths, in the order of first appearance; without grouped paths one row.
 * @param kept counts what the groups take, also in what is returned
 * @throws cascade.query.aggregate.value, cascade.operation.unknown, errors of `kept`
 */
export async function aggregateRows(
  space: Namespace,
  resource: string,
  pages: AsyncGenerator<WalkPage>,
  wanted: readonly WantedAggregate[],
  groupBy: readonly string[],
  kept: Pick<Held, 'add'>,
): Promise<ObjectValue[]> {
  for (const [, [fn, path]] of wanted)
    if (path !== null && !AGGREGATES.has(fn)) throw apiError('cascade.operation.unknown', `${fn}(${resource}.${path})`);
  const groups = new Map<string, Group>();
  const begin = (id: string, key: ObjectValue): Group => {
    kept.add(GROUP_BYTES + 2 * id.length + wanted.length * COLUMN_BYTES);
    const columns = wanted.map(([, [fn, path]]): Column => ({ all: accumulator(path === null ? 'count' : fn, path), bytes: 0 }));
    const group = { key, columns };
    groups.set(id, group);
    return group;
  };
  const only = groupBy.length === 0 ? begin('{}', {}) : null;
  for await (const { rows } of pages)
    for (const text of rows) {
      const read = innerValue(space, text);
      const row = read instanceof Promise ? await read : read;
      let group = only;
      if (!group) {
        const key: ObjectValue = {};
        for (const path of groupBy) setOwn(key, path, at(row, path));
        const named = groupKey(space, key);
        const id = named instanceof Promise ? await named : named;
        group = groups.get(id) ?? begin(id, key);
      }
      wanted.forEach(([, [, path]], index) => {
        const column = group.columns[index];
        if (column) addTo(column, path === null ? true : at(row, path), text.length, kept);
      });
    }
  return groups.size > FEW_GROUPS ? inSlices(resultsOf(space.name), rowsOf(groups, wanted)) : [...rowsOf(groups, wanted)];
}

function* rowsOf(groups: ReadonlyMap<string, Group>, wanted: readonly WantedAggregate[]): Generator<ObjectValue> {
  for (const { key, columns } of groups.values()) {
    const row: ObjectValue = { ...key };
    for (const [index, [name]] of wanted.entries()) setOwn(row, name, columns[index]?.all.result() ?? null);
    yield row;
  }
}

/** @param rowLength what an Object takes at most */
function addTo(column: Column, value: Value, rowLength: number, kept: Pick<Held, 'add'>): void {
  const before = column.all.held;
  column.all.add(value);
  const { held } = column.all;
  if (held === before) return;
  const bytes = typeof held === 'string' ? held.length : typeof held === 'object' && held !== null ? rowLength : 0;
  if (bytes === column.bytes) return;
  kept.add(bytes - column.bytes);
  column.bytes = bytes;
}

const AGGREGATES: ReadonlySet<string> = new Set<AggregateName>(['count', 'sum', 'avg', 'min', 'max', 'rise', 'first', 'last']);

function at(row: Value, path: string): Value {
  let value = row;
  for (const step of path.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, step)) return null;
    value = getOwn(value, step);
  }
  return value;
}
