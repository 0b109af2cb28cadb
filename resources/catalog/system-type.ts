// A short notation for the service's own types.

import type { ObjectValue } from '../../stdlib/values/index.ts';
import { type BaseType, type IndexDefinition, parseType, type PropertyDefinition, type TypeDefinition } from '../../model/types/index.ts';

/**
 * Property name to `[multi] [required] [unique] [indexed] [secret] <base type>`; `multi String` is an array of Strings, `Any` holds any
 * value, `Username` is a String that holds a username, `AnyUsername` may be something else besides. A secret property can be written, is never shown, and no condition may name it.
 */
export type Shape = Readonly<Record<string, string>>;

const SPECIAL: Readonly<Record<string, { base: BaseType; more: Pick<PropertyDefinition, 'anything' | 'isUsername'> }>> = {
  Any: { base: 'Object', more: { anything: true } },
  AnyUsername: { base: 'Object', more: { anything: true, isUsername: true } },
  Username: { base: 'String', more: { isUsername: true } },
};

const FLAGS = ['multi', 'required', 'unique', 'indexed', 'secret'] as const;

/** @param indexes over several properties, `-` before what descends: `chatId -sequence`; `entities.$**` is one over all members */
export function systemType(
  name: string,
  shape: Shape,
  naturalKey: readonly string[] = [],
  indexes: readonly string[] = [],
): TypeDefinition {
  const properties: ObjectValue = {};
  const particular = new Map<string, Pick<PropertyDefinition, 'anything' | 'isUsername'>>();
  for (const [property, declared] of Object.entries(shape)) {
    const words = declared.split(' ');
    const base = words.at(-1) ?? '';
    const special = Object.hasOwn(SPECIAL, base) ? SPECIAL[base] : undefined;
    if (special) particular.set(property, special.more);
    const flags = FLAGS.filter((flag) => words.includes(flag)).map((flag) => [flag, true] as const);
    properties[property] = { type: special?.base ?? base, multi: false, ...Object.fromEntries(flags) };
  }
  const parsed = parseType({ name, properties, naturalKey: [...naturalKey] }, { types: new Map(), scalars: new Map() }, { system: true });
  const type = { ...parsed, indexes: indexes.map(indexOf) };
  if (particular.size === 0) return type;
  return { ...type, properties: new Map([...type.properties].map(([key, one]) => [key, { ...one, ...particular.get(key) }])) };
}

function indexOf(text: string): IndexDefinition {
  const keys = text
    .split(' ')
    .map((key) => ({ path: key.replace(/^-/, ''), direction: key.startsWith('-') ? (-1 as const) : (1 as const) }));
  return { keys, unique: false, options: null };
}
