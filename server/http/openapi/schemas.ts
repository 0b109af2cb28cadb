// Schemas of what resources hold: as they are read, and as they are sent.
import type { DescribedResource } from '../../../resources/api.ts';
import { getOwn, isObject, type ObjectValue, type Value } from '../../../stdlib/values/index.ts';

export const schemaRef = (name: string): ObjectValue => ({ $ref: `#/components/schemas/${name}` });

/** Of an instance as it is answered. */
export const readSchema = ({ name }: DescribedResource): ObjectValue => schemaRef(name);
/** Of an instance that is to be made; changes name some of its properties only. */
export const newSchema = ({ name }: DescribedResource): ObjectValue => schemaRef(`${name}.new`);

export function* schemasOf(resources: readonly DescribedResource[]): Generator<[string, Value]> {
  for (const resource of resources) {
    const { $schema: _, ...whole } = resource.schema;
    const shape = resource.answers === 'object' ? opened(whole) : whole;
    const { required, ...read } = shape;
    yield [resource.name, read];
    yield [`${resource.name}.new`, Array.isArray(required) && required.length > 0 ? { ...read, required } : read];
  }
}

/** Definitions may have further fields, and where they hold an Object or several, it is for the service to say what it must be. */
function opened(schema: ObjectValue): ObjectValue {
  const properties: ObjectValue = {};
  const declared = getOwn(schema, 'properties');
  if (isObject(declared)) for (const [name, property] of Object.entries(declared)) properties[name] = isPlain(property) ? property : {};
  return { ...schema, properties, additionalProperties: true };
}

const isPlain = (property: Value): boolean => {
  if (!isObject(property)) return false;
  const type = getOwn(property, 'type');
  const names = Array.isArray(type) ? type : [type];
  return !names.includes('object') && !names.includes('array') && !Object.hasOwn(property, 'anyOf');
};
