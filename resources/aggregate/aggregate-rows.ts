// Aggregates of a SELECT (language.md E8, E9; builtins.md 16): rows are grouped by key, and the aggregate functions are the built-ins of
// the same names.

import { aggregate } from '../../stdlib/builtins/index.ts';
import type { AggregateName } from '../../stdlib/isolate/index.ts';
import { getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import type { Namespace } from '../catalog/index.ts';
import { innerValue, type WalkPage } from '../instances/index.ts';
import { groupKey } from './group-key.ts';

/** One row for each distinct combination of the grouped paths, in the order of first appearance; without grouped paths one row. */
export async function aggregateRows(
  space: Namespace,
  resource: string,
  pages: AsyncGenerator<WalkPage>,
  wanted: readonly (readonly [name: string, [AggregateName, string | null]])[],
  groupBy: readonly string[],
): Promise<ObjectValue[]> {
  const groups = new Map<string, { key: ObjectValue; count: number; columns: Value[][] }>();
  const begin = (key: ObjectValue) => ({ key, count: 0, columns: wanted.map((): Value[] => []) });
  if (groupBy.length === 0) groups.set('{}', begin({}));
  for await (const { rows } of pages)
    for (const text of rows) {
      const read = innerValue(space, text);
      const row = read instanceof Promise ? await read : read;
      const key: ObjectValue = {};
      for (const path of groupBy) setOwn(key, path, at(row, path));
      const named = groupKey(space, key);
      const id = named instanceof Promise ? await named : named;
      const group = groups.get(id) ?? begin(key);
      groups.set(id, group);
      group.count++;
      wanted.forEach(([, [, path]], index) => {
        if (path !== null) group.columns[index]?.push(at(row, path));
      });
    }
  return [...groups.values()].map(({ key, count, columns }) => {
    const row: ObjectValue = { ...key };
    wanted.forEach(([name, [fn, path]], index) => {
      setOwn(row, name, path === null ? count : apply(resource, fn, path, columns[index] ?? []));
    });
    return row;
  });
}

const AGGREGATES: ReadonlySet<string> = new Set<AggregateName>(['count', 'sum', 'avg', 'min', 'max', 'rise', 'first', 'last']);

function apply(resource: string, fn: AggregateName, path: string, values: Value[]): Value {
  if (!AGGREGATES.has(fn)) throw apiError('cascade.operation.unknown', `${fn}(${resource}.${path})`);
  return aggregate(fn, values, path);
}

function at(row: Value, path: string): Value {
  let value = row;
  for (const step of path.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, step)) return null;
    value = getOwn(value, step);
  }
  return value;
}
