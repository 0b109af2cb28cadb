// What the tests of conditions share: types from short descriptions, and conditions in a fixed context.
import type { ObjectValue } from '../../stdlib/values/index.ts';
import { coerceProperty, parseType, type TypeDefinition } from '../types/index.ts';
import { parseJson } from '../values/index.ts';
import { parseWhere } from './parse.ts';
import type { Predicate } from './types.ts';

export const CONTEXT = { username: 'ann', namespace: 'plant', now: Date.UTC(2031, 0, 1) };

/** A type from `{n: 'Integer', t: 'String multi', d: 'Decimal(2)'}`; `others` are the types that its properties may name. */
export function typeOf(
  name: string,
  properties: Record<string, string>,
  more: ObjectValue = {},
  others: readonly TypeDefinition[] = [],
): TypeDefinition {
  const declared = Object.entries(properties).map(([property, text]) => {
    const [, type = '', scale] = /^(\w+)(?:\((\d+)\))?/.exec(text) ?? [];
    const flags = Object.fromEntries(['multi', 'encrypted', 'indexed'].map((flag) => [flag, text.includes(flag)]));
    return [property, { type, ...(scale && { scale: Number(scale) }), ...flags }];
  });
  return parseType(
    { name, properties: Object.fromEntries(declared), ...more },
    {
      types: new Map(others.map((other) => [other.name, other])),
      scalars: new Map(),
    },
  );
}

/** An instance as it would be stored, from its JSON. */
export function instanceOf(type: TypeDefinition, json: string): ObjectValue {
  const instance: ObjectValue = {};
  for (const [name, value] of Object.entries(parseJson(json) as ObjectValue)) {
    const property = type.properties.get(name);
    instance[name] = property ? coerceProperty(type, property, value) : value;
  }
  return instance;
}

export const parse = (json: string, type: TypeDefinition | null = null): Predicate => parseWhere(parseJson(json), type, CONTEXT);
