// The order of a result (resources-and-api.md 2.2): `{"rpm": -1, "site": 1}`, ties by `_id`.
import type { Document } from 'mongodb';
import { getOwn, isNumber, isObject, numberOf, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../errors/index.ts';
import type { TypeDefinition } from '../types/index.ts';
import { instanceScope } from './path.ts';
import { storedName } from './stored-names.ts';
import type { ConditionPath, Kind } from './types.ts';

export interface SortKey {
  readonly path: ConditionPath;
  readonly descending: boolean;
}

/** The store takes one more: `_id`, which comes last. */
const MOST_KEYS = 31;

/** What has no order that anyone could expect. */
const UNSORTABLE: ReadonlySet<Kind> = new Set<Kind>(['Decimal', 'Currency', 'ResourceReference', 'Object', 'GeoJSON']);

/** The store sorts by no step without a name. @throws cascade.query.sort.invalid, cascade.query.sort.unsupported, cascade.query.property.forbidden, cascade.query.too.expensive; a value of another form is a wrong parameter */
export function parseSort(sort: Value, type: TypeDefinition | null): SortKey[] {
  if (!isObject(sort)) throw apiError('cascade.request.parameter.invalid', 'sort', sort);
  const names = Object.keys(sort);
  if (names.length > MOST_KEYS) throw apiError('cascade.query.too.expensive', 'sort');
  const scope = instanceScope(type);
  return names.map((name) => {
    const direction = getOwn(sort, name);
    const sign = isNumber(direction) ? numberOf(direction) : 0;
    const steps = name.split('.');
    const isNamed = steps.every((step) => !step.startsWith('$') && (step !== '' || steps.length === 1));
    if ((sign !== 1 && sign !== -1) || !isNamed) throw apiError('cascade.query.sort.invalid', name);
    const path = scope(name);
    if (path.multi || path.spread || UNSORTABLE.has(path.kind) || (path.asData && path.part !== null))
      throw apiError('cascade.query.sort.unsupported', name);
    return { path, descending: sign < 0 };
  });
}

/** The store's sort document; properties that no instance has play no part. */
export function toSort(keys: readonly SortKey[]): Document {
  const sort = new Map<string, 1 | -1>();
  for (const { path, descending } of keys) if (path.known) sort.set(storedName(path.stored), descending ? -1 : 1);
  if (!sort.has('_id')) sort.set('_id', 1);
  return sort; // the driver takes a Map, which keeps the order of names that look like numbers
}
