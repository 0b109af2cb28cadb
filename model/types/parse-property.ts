// One property of a submitted type (resources-and-api.md 4.1, table Property).
import { deepCopy, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { apiError, isApiError } from '../errors/index.ts';
import { fitsMaxLength } from './check-final.ts';
import { coerceProperty } from './coerce.ts';
import { BASE_TYPES, type BaseType, type KnownNames, type PropertyDefinition } from './definition.ts';
import { type Fields, fieldsOf } from './fields.ts';

const ATTRIBUTES = new Set(['type', 'multi', 'array', 'required', 'default', 'unique', 'indexed', 'encrypted', 'description']);
const MAX_SCALE = 30;
/** Variables of a service's state that are such an object (language.md 8, Y2). */
const SHARED: Readonly<Record<string, 'Map' | 'Value'>> = {
  Map: 'Map',
  'Concurrent.Map': 'Map',
  Value: 'Value',
  'Concurrent.Value': 'Value',
};
const DEFAULT_CURRENCY_SCALE = 4;

/** Its type as far as the definition needs it: what a scalar adds, and the structure behind another type's name. */
type Resolved = Pick<PropertyDefinition, 'shared' | 'base' | 'kind' | 'scalar' | 'structure' | 'maxLength' | 'scale'>;

/**
 * @param known types and scalars by name; kept, so that a type that changes later is seen as it is then
 * @throws CascadeError
 */
export function parseProperty(typeName: string, name: string, body: Value, known: KnownNames): PropertyDefinition {
  if (!isObject(body)) throw apiError('cascade.resource.property.invalid', 'types', `properties.${name}`, 'no Object');
  const fields = fieldsOf('types', body, `properties.${name}.`);
  const resolved = resolveType(typeName, name, fields, known);
  const maxLength = resolved.base === 'String' ? fields.integer('maxLength', 0, Number.MAX_SAFE_INTEGER, resolved.maxLength) : undefined;
  const scale = scaleOf(typeName, name, resolved, fields);
  const definition = {
    name,
    type: fields.text('type') as string,
    base: resolved.base,
    kind: resolved.kind,
    ...(resolved.scalar && { scalar: resolved.scalar }),
    ...(resolved.structure && { structure: resolved.structure }),
    ...(resolved.shared && { shared: resolved.shared }),
    multi: fields.boolean('multi') || fields.boolean('array'),
    required: fields.boolean('required'),
    unique: fields.boolean('unique'),
    indexed: fields.boolean('indexed'),
    ...(maxLength !== undefined && { maxLength }),
    ...(scale !== undefined && { scale }),
    encrypted: fields.boolean('encrypted'),
    ...(fields.text('description') !== null && { description: fields.text('description') as string }),
    other: without(
      body,
      new Set([...ATTRIBUTES, ...(maxLength === undefined ? [] : ['maxLength']), ...(scale === undefined ? [] : ['scale'])]),
    ),
    declared: deepCopy(body) as ObjectValue,
  };
  const submitted = getOwn(body, 'default');
  return submitted === null ? definition : { ...definition, default: defaultOf(typeName, definition, submitted) };
}

function resolveType(typeName: string, name: string, fields: Fields, known: KnownNames): Resolved {
  const type = fields.get('type');
  if (typeof type === 'string') {
    if ((BASE_TYPES as readonly string[]).includes(type)) return { base: type as BaseType, kind: 'base' };
    const scalar = known.scalars.get(type);
    if (scalar) return { base: scalar.baseType, kind: 'scalar', scalar, maxLength: scalar.maxLength, scale: scalar.scale };
    if (type === typeName || known.types.has(type)) return { base: 'Object', kind: 'type', structure: () => known.types.get(type) };
    if (Object.hasOwn(SHARED, type)) return { base: 'Object', kind: 'base', shared: SHARED[type] };
    if (known.isStored || known.kept?.get(name) === type) return { base: 'Object', kind: 'type', structure: () => known.types.get(type) };
  }
  throw apiError('cascade.type.property.type', typeName, name, type);
}

function scaleOf(typeName: string, name: string, { base, scale }: Resolved, fields: Fields): number | undefined {
  if (base === 'Currency') return fields.integer('scale', 0, MAX_SCALE, scale ?? DEFAULT_CURRENCY_SCALE);
  if (base !== 'Decimal') return undefined;
  const declared = fields.integer('scale', 0, MAX_SCALE, scale);
  if (declared === undefined) throw apiError('cascade.type.property.scale.required', typeName, name);
  return declared;
}

/** Coerced like a submitted value; of another type's name only that it is an Object, as defaults may come before that type is complete. */
function defaultOf(typeName: string, definition: PropertyDefinition, submitted: Value): Value {
  const { structure: _, ...plain } = definition;
  try {
    const value = coerceProperty({ name: typeName }, plain, submitted);
    if (fitsMaxLength(definition, value)) return value;
  } catch (error) {
    if (!isApiError(error)) throw error;
  }
  throw apiError('cascade.type.property.default', typeName, definition.name);
}

/** The members with other names. */
export function without(object: ObjectValue, names: ReadonlySet<string>): ObjectValue {
  const rest: ObjectValue = {};
  for (const key of Object.keys(object)) if (!names.has(key)) setOwn(rest, key, deepCopy(object[key] as Value));
  return rest;
}
