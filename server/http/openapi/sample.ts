// A value that a schema allows, for examples: of the schemas that properties of types have.
import { getOwn, isObject, type ObjectValue, type Value } from '../../../stdlib/values/index.ts';

const TIME = '2026-11-21T04:03:26.033Z';
/** Texts by the patterns that references and amounts have, any other one by none. */
const TEXTS: readonly string[] = ['north', '/custom/Pump/6b01180ea1fc451960000000', 'EUR:12.50'];

const member = (schema: ObjectValue, name: string): Value => (Object.hasOwn(schema, name) ? getOwn(schema, name) : null);

export function sample(schema: Value): Value {
  if (!isObject(schema)) return TEXTS[0]!;
  for (const name of ['anyOf', 'oneOf']) {
    const choices = member(schema, name);
    if (Array.isArray(choices)) return sample(choices[0] ?? null);
  }
  if (Object.hasOwn(schema, 'const')) return getOwn(schema, 'const');
  const choices = member(schema, 'enum');
  if (Array.isArray(choices)) return choices[0] ?? null;
  const types = member(schema, 'type');
  return SAMPLES[String(Array.isArray(types) ? types[0] : types)]?.(schema) ?? TEXTS[0]!;
}

const SAMPLES: Readonly<Record<string, (schema: ObjectValue) => Value>> = {
  string: textOf,
  integer: () => 3,
  number: () => 1.5,
  boolean: () => true,
  array: (schema) => Array.from({ length: Math.max(1, Number(member(schema, 'minItems') ?? 1)) }, () => sample(member(schema, 'items'))),
  object: (schema) => propertiesOf(schema),
};

function textOf(schema: ObjectValue): string {
  if (member(schema, 'format') === 'date-time') return TIME;
  const pattern = member(schema, 'pattern');
  const text = typeof pattern === 'string' ? (TEXTS.find((one) => new RegExp(pattern, 'u').test(one)) ?? TEXTS[0]!) : TEXTS[0]!;
  const most = member(schema, 'maxLength');
  return most === null ? text : text.slice(0, Number(most));
}

/** An object with all its properties. */
export function propertiesOf(schema: ObjectValue): ObjectValue {
  const properties = member(schema, 'properties');
  return isObject(properties)
    ? Object.fromEntries(Object.entries(properties).map(([name, property]): [string, Value] => [name, sample(property)]))
    : {};
}
