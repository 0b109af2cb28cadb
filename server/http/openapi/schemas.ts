// Schemas of the members of resources: as they are read, and as they are sent.
import type { DescribedResource } from '../../../resources/api.ts';
import { getOwn, isObject, type ObjectValue, type Value } from '../../../stdlib/values/index.ts';

export const schemaRef = (name: string): ObjectValue => ({ $ref: `#/components/schemas/${name}` });

/** The schema of an instance in answers. */
export const readSchema = ({ name }: DescribedResource): ObjectValue => schemaRef(name);
/** The schema of a new instance; changes name only some of its properties. */
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

/** A definition may have further fields; where it contains one or several Objects, the service checks their content. */
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
