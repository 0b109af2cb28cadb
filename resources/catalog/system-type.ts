// A short notation for the service's own types.

import type { ObjectValue } from '../../stdlib/values/index.ts';
import { parseType, type TypeDefinition } from '../../model/types/index.ts';

/**
 * Property name to `[multi] [required] [unique] [indexed] [secret] <base type>`; `multi String` is an array of Strings, `Any` holds any
 * value. A secret property can be written, is never shown, and no condition may name it.
 */
export type Shape = Readonly<Record<string, string>>;

const FLAGS = ['multi', 'required', 'unique', 'indexed', 'secret'] as const;

export function systemType(name: string, shape: Shape, naturalKey: readonly string[] = []): TypeDefinition {
  const properties: ObjectValue = {};
  const anything: string[] = [];
  for (const [property, declared] of Object.entries(shape)) {
    const words = declared.split(' ');
    const base = words.at(-1) ?? '';
    if (base === 'Any') anything.push(property);
    const flags = FLAGS.filter((flag) => words.includes(flag)).map((flag) => [flag, true] as const);
    properties[property] = { type: base === 'Any' ? 'Object' : base, multi: false, ...Object.fromEntries(flags) };
  }
  const type = parseType({ name, properties, naturalKey: [...naturalKey] }, { types: new Map(), scalars: new Map() }, { system: true });
  if (anything.length === 0) return type;
  const open = new Map([...type.properties].map(([key, one]) => [key, anything.includes(key) ? { ...one, anything: true as const } : one]));
  return { ...type, properties: open };
}
