// The properties of a result (resources-and-api.md 2.2): `["rpm", "o.k"]`, all of them for `[]`.
import type { Document } from 'mongodb';
import type { Value } from '../../stdlib/values/index.ts';
import { apiError } from '../errors/index.ts';
import { type PropertyDefinition, SYSTEM_PROPERTIES, type SystemProperty, type TypeDefinition } from '../types/index.ts';
import { instanceScope, isSecret } from './path.ts';
import { storedName } from './stored-names.ts';

/** Null for all properties. `_id` is always among them; a path inside another one of the list is left out. */
export function parseProps(props: Value): string[] | null {
  if (!Array.isArray(props) || !props.every((name) => typeof name === 'string'))
    throw apiError('cascade.request.parameter.invalid', 'props', props);
  if (props.length === 0) return null;
  const names = new Set(['_id', ...props]);
  return [...names].filter((name) => !parents(name).some((parent) => names.has(parent)));
}

function* prefixes(name: string): Generator<string> {
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) yield name.slice(0, dot);
}
const parents = (name: string): string[] => [...prefixes(name)];

/** Whether a property has parts to show: the parts of a scalar make no value of its own. */
function isOpen(name: string, declared: PropertyDefinition | undefined): boolean {
  const base = declared?.base ?? (Object.hasOwn(SYSTEM_PROPERTIES, name) ? SYSTEM_PROPERTIES[name as SystemProperty] : undefined);
  return base === undefined || base === 'Object';
}

/** The store's projection, or undefined for everything. What cannot be shown (unknown names, parts of scalars) is left out. */
export function toProjection(props: readonly string[] | null, type: TypeDefinition | null): Document | undefined {
  if (props === null) return undefined;
  const projection: Document = { _id: 1 };
  for (const name of props) {
    if (name === '' || name.split('.').some((step) => step === '' || step.startsWith('$'))) continue;
    const whole = name.split('.')[0] as string;
    const declared = type?.properties.get(whole);
    if (declared && isSecret(declared)) {
      if (declared.encrypted) projection[whole] = 1; // only its whole can be opened
      continue;
    }
    if (name !== whole && !isOpen(whole, declared)) continue;
    const path = instanceScope(type)(name);
    if (path.known && path.part === null) projection[storedName(path.stored)] = 1;
  }
  return projection;
}
