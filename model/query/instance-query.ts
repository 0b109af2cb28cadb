// Whether a condition addresses one instance: only `==` on its id, or on all properties of its natural key (language.md U2, U4).
import type { TypeDefinition } from '../types/index.ts';
import type { Condition, Constant, Predicate } from './types.ts';

export interface InstanceQuery {
  /** `key`: by all properties of the natural key, maybe besides the id; what is more than a type's `_id` for system resources only. */
  readonly by: 'id' | 'key';
  readonly values: ReadonlyMap<string, Constant>;
}

/** Null for every other condition. */
export function instanceQuery({ condition }: Predicate, type: TypeDefinition | null): InstanceQuery | null {
  const values = new Map<string, Constant>();
  if (!collectEqualities(condition, values)) return null;
  const key = type?.naturalKey ?? [];
  const names = [...values.keys()];
  if (!names.every((name) => name === '_id' || key.includes(name))) return null;
  if (key.length > 0 && key.every((name) => values.has(name))) return { by: 'key', values };
  return names.length === 1 && names[0] === '_id' ? { by: 'id', values } : null;
}

/** False as soon as something else than an equality with a value is met, or two of one property that differ. */
function collectEqualities(condition: Condition, values: Map<string, Constant>): boolean {
  if (condition.op === 'and') return condition.terms.every((term) => collectEqualities(term, values));
  if (condition.op !== 'property') return false;
  const name = condition.path.text;
  return condition.tests.every((test) => {
    if (test.op !== 'eq' || test.value === null || (values.has(name) && values.get(name) !== test.value)) return false;
    values.set(name, test.value);
    return true;
  });
}

/** The path of what a condition names, for errors that it is not there; that of the whole resource for a condition that names none. */
export function namedPath(resource: string, query: InstanceQuery | null, type: TypeDefinition | null): string {
  const [key = '_id', second] = type?.naturalKey ?? [];
  const id = query?.values.get('_id') ?? (second === undefined ? query?.values.get(key) : undefined);
  return typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint' ? `/${resource}/${id}` : `/${resource}`;
}
