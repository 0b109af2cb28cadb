// A type as JSON Schema: what its instances look like to a client (resources-and-api.md 1.1, 5).
import { getOwn, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { BaseType, PropertyDefinition, TypeDefinition } from './definition.ts';

const DEEPEST = 8;
const POSITION: ObjectValue = { type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 3 };

/** What a client reads; bodies may also have the other forms that are converted. What a scalar's `toExternal` makes may be anything. */
const BASES: Readonly<Record<BaseType, ObjectValue>> = {
  String: { type: 'string' },
  Integer: { type: 'integer', minimum: -9223372036854775808n, maximum: 9223372036854775807n },
  Real: { type: 'number' },
  Boolean: { type: 'boolean' },
  DateTime: { type: 'string', format: 'date-time' },
  Decimal: { type: 'string', pattern: '^-?[0-9]+(\\.[0-9]+)?$' },
  Currency: { type: 'string', pattern: '^[A-Z]{3}:-?[0-9]+(\\.[0-9]+)?$' },
  GeoJSON: {
    oneOf: [
      geometry('Point', POSITION),
      geometry('LineString', { type: 'array', items: POSITION, minItems: 2 }),
      geometry('Polygon', { type: 'array', items: { type: 'array', items: POSITION, minItems: 4 } }),
    ],
  },
  ResourceReference: { type: 'string', pattern: '^/[^/]+/.+$' },
  Object: { type: 'object' },
};

/** Of a base type by its name; of another type (its instances are Objects), and of `Any`, what is known of it. */
export function baseSchema(name: string): ObjectValue {
  if (Object.hasOwn(BASES, name)) return { ...BASES[name as BaseType] };
  return name === 'Any' ? {} : { ...BASES.Object };
}

export function typeToSchema(type: TypeDefinition): ObjectValue {
  const description = getOwn(type.other, 'description');
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: type.name,
    ...(typeof description === 'string' && { description }),
    ...objectSchema(type, 0),
  };
}

/** System properties may stand beside the declared ones, nothing else. */
function objectSchema(type: TypeDefinition, depth: number): ObjectValue {
  const properties: ObjectValue = {};
  const required: Value[] = [];
  for (const property of type.properties.values()) {
    properties[property.name] = propertySchema(property, depth);
    if (property.required) required.push(property.name);
  }
  return { type: 'object', properties, patternProperties: { '^(_id$|ars_)': true }, additionalProperties: false, required };
}

function propertySchema(property: PropertyDefinition, depth: number): ObjectValue {
  const element = elementSchema(property, depth);
  const schema: ObjectValue = property.multi ? { type: 'array', items: element } : element;
  const given = Object.hasOwn(property.declared, 'default') ? getOwn(property.declared, 'default') : null;
  return {
    ...(property.required ? schema : orNull(schema)),
    ...(property.description !== undefined && { description: property.description }),
    ...(given !== null && { default: given }),
  };
}

function elementSchema({ base, scalar, structure, maxLength, anything }: PropertyDefinition, depth: number): ObjectValue {
  if (anything || scalar?.toExternal !== undefined) return {};
  const members = depth < DEEPEST ? structure?.() : undefined; // a type may hold itself
  if (members) return objectSchema(members, depth + 1);
  return { ...BASES[base], ...(maxLength !== undefined && { maxLength }) };
}

function orNull(schema: ObjectValue): ObjectValue {
  const type = getOwn(schema, 'type');
  return typeof type === 'string' ? { ...schema, type: [type, 'null'] } : { anyOf: [schema, { type: 'null' }] };
}

function geometry(type: string, coordinates: ObjectValue): ObjectValue {
  return {
    type: 'object',
    properties: { type: { const: type }, coordinates },
    required: ['type', 'coordinates'],
    additionalProperties: false,
  };
}
