// Definitions and accounts keep their references as texts; conditions compare references (resources-and-api.md 3.3).
import { convert } from '../../stdlib/convert/index.ts';
import { getOwn, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';

const OF_THE_SYSTEM = ['ars_dependentResource'];

/** A function that gives an object of this type as conditions compare it. */
export function comparedForm({ properties }: Pick<TypeDefinition, 'properties'>): (object: ObjectValue) => ObjectValue {
  const declared = [...properties.values()].filter(({ base }) => base === 'ResourceReference').map(({ name }) => name);
  const names = [...declared, ...OF_THE_SYSTEM];
  return (object) => {
    const present = names.filter((name) => Object.hasOwn(object, name));
    if (present.length === 0) return object;
    return { ...object, ...Object.fromEntries(present.map((name): [string, Value] => [name, referencesIn(getOwn(object, name))])) };
  };
}

const referencesIn = (value: Value): Value =>
  Array.isArray(value)
    ? value.map(referencesIn)
    : typeof value === 'string'
      ? convert(value, { type: 'ResourceReference' }, 'property')
      : value;
