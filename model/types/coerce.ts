// A submitted value as a declared property holds it (resources-and-api.md 5; the conversions themselves are in stdlib/convert).
import { ConversionError, convert } from '../../stdlib/convert/index.ts';
import {
  getOwn,
  isObject,
  MAX_DATA_DEPTH,
  type ObjectValue,
  Real,
  real,
  setOwn,
  type Value,
  XmlElement,
  XmlNode,
} from '../../stdlib/values/index.ts';
import { CascadeError, apiError } from '../errors/index.ts';
import { fitsMaxLength } from './check-final.ts';
import { type BaseType, type PropertyDefinition, type ScalarDefinition, SYSTEM_PROPERTIES, type TypeDefinition } from './definition.ts';
import { atOnce, type InPieces, isDivisible, runsOf } from './pieces.ts';
import { DataError, plainData, plainDataInPieces } from './plain-data.ts';
import { Problems } from './problems.ts';

type Coerced = Pick<PropertyDefinition, 'type' | 'base' | 'shared' | 'multi' | 'anything' | 'maxLength' | 'scale' | 'scalar' | 'structure'>;

/** Where a value is bound for; `path` names it inside the instance. */
interface Place {
  readonly typeName: string;
  readonly property: Coerced;
  readonly path: string;
  /** Values of scalars with a procedure that converts them are in their external form, which only the procedure knows: any data. */
  readonly isExternal?: boolean;
}

/**
 * The value as it is stored; null for null, whatever is required.
 * @throws cascade.type.property.invalid with `[type, property, expected type, reason]`; CascadeErrors for several inside a typed Object
 */
export const coerceProperty = (type: Pick<TypeDefinition, 'name'>, property: PropertyDefinition, value: Value): Value =>
  isStoredForm(property, value) ? value : coerceAt({ typeName: type.name, property, path: property.name }, value);

/** The same for a long value. What is refused as a whole takes one piece. */
export function* coercePropertyInPieces(type: Pick<TypeDefinition, 'name'>, property: PropertyDefinition, value: Value): InPieces<Value> {
  return yield* coerceInPieces({ typeName: type.name, property, path: property.name }, value);
}

function* coerceInPieces(place: Place, value: Value): InPieces<Value> {
  const { multi, anything, shared } = place.property;
  if (!isDivisible(value) || anything || shared || Array.isArray(value) !== multi) return coerceAt(place, value);
  if (!Array.isArray(value)) return yield* coerceElementInPieces(place, value);
  const coerced: Value[] = [];
  for (const run of runsOf(value.length, (index) => value[index])) {
    const { from, to } = run;
    if (run.isDivisible) coerced.push(yield* coerceElementInPieces(place, value[from] as Value, `${place.path}.${from}`));
    else for (let index = from; index < to; index++) coerced.push(coerceOneOf(place, value[index], index));
    yield;
  }
  return coerced;
}

/** Whether a single value is as the property stores it, at a glance; false where that takes a closer look. */
function isStoredForm({ base, multi }: PropertyDefinition, value: Value): boolean {
  if (multi) return false;
  if (base === 'String') return typeof value === 'string' && value.isWellFormed();
  if (base === 'Boolean') return typeof value === 'boolean';
  if (base === 'Integer') return Number.isSafeInteger(value);
  return base === 'Real' && typeof value === 'number' && Number.isFinite(value) && !Number.isInteger(value);
}

/** The same for a system property that the caller may set (1.3). */
export function coerceSystemProperty(type: Pick<TypeDefinition, 'name'>, name: keyof typeof SYSTEM_PROPERTIES, value: Value): Value {
  const base: BaseType = SYSTEM_PROPERTIES[name];
  return coerceAt({ typeName: type.name, property: { type: base, base, multi: name === 'ars_relationships' }, path: name }, value);
}

/**
 * An Object as a type describes it, in its external form: what a parameter or a result typed with the type's name takes (language.md P1). Paths
 * in errors begin inside the Object.
 * @throws as coerceProperty
 */
export const coerceDescribed = (type: TypeDefinition, value: Value): Value =>
  coerceAt({ typeName: type.name, property: { ...OBJECT, type: type.name, structure: () => type }, path: '', isExternal: true }, value);

/** The same by the name of a scalar, whose base type says what it is. */
export const coerceScalarValue = (scalar: ScalarDefinition, value: Value): Value =>
  fitting(
    {
      typeName: scalar.name,
      property: { ...scalar, type: scalar.name, base: scalar.baseType, multi: false, scalar },
      path: '',
      isExternal: true,
    },
    value,
  );

const OBJECT = { base: 'Object', multi: false } as const;

function coerceAt(place: Place, given: Value): Value {
  if (given === null || given === undefined) return null;
  const value = given instanceof XmlNode ? xmlFor(place.property, given) : given;
  if (place.property.anything || isAsShown(place)) return coerceData(place.typeName, place.path, value);
  if (place.property.shared) return refuse(place, 'state');
  if (!place.property.multi) return Array.isArray(value) ? refuse(place, 'array') : coerceElement(place, value);
  if (!Array.isArray(value)) return refuse(place, 'multi');
  return value.map((element, index) => coerceOneOf(place, element, index));
}

const coerceOneOf = (place: Place, element: Value | undefined, index: number): Value =>
  element === null || element === undefined ? refuse(place, 'null') : coerceElement(place, element, `${place.path}.${index}`);

/** XML for a property: its elements where there are many, the data of integrations.md 2.7 for Objects, else its text. */
function xmlFor({ multi, anything, base }: Coerced, node: XmlNode): Value {
  if (anything || base === 'Object' || base === 'GeoJSON') return node.data() ?? null;
  return multi && !(node instanceof XmlElement) ? node.elements.map((element) => element.text()) : node.text();
}

/** A value inside an Object, where no BEFORE rule can shorten a text any more. */
const fitting = (place: Place, given: Value): Value => fits(place, coerceAt(place, given));

const fits = (place: Place, value: Value): Value =>
  isAsShown(place) || fitsMaxLength(place.property, value) ? value : refuse(place, 'maxLength');

/** In an external form that a procedure makes, or reads, the base type says nothing of the value. */
const isAsShown = ({ isExternal, property: { scalar } }: Place): boolean =>
  isExternal === true && (scalar?.toInternal !== undefined || scalar?.toExternal !== undefined);

function refuse({ typeName, property, path }: Place, reason: string): never {
  throw apiError('cascade.type.property.invalid', typeName, path, property.type, reason);
}

function coerceElement(place: Place, value: Value, path = place.path): Value {
  const structure = place.property.structure?.();
  if (structure && isObject(value)) return atOnce(coerceStructure({ ...place, path }, structure, value));
  try {
    return coerceScalar(place.property, value);
  } catch (error) {
    return refuse(place, reasonOf(error));
  }
}

function* coerceElementInPieces(place: Place, value: Value, path = place.path): InPieces<Value> {
  const structure = place.property.structure?.();
  if (structure && isObject(value)) return yield* coerceStructure({ ...place, path }, structure, value);
  if (place.property.base !== 'Object' || !isObject(value)) return coerceElement(place, value, path);
  try {
    return yield* plainDataInPieces(value);
  } catch (error) {
    return refuse(place, reasonOf(error));
  }
}

function coerceScalar({ base, scale }: Coerced, value: Value): Value {
  if (base === 'Object') return isObject(value) ? plainData(value) : noFormat();
  const converted = convert(value, { type: base, scale }, 'property');
  if (converted instanceof Real) return real(converted.value);
  return base === 'GeoJSON' ? plainData(converted) : converted;
}

const noFormat = (): never => {
  throw new DataError('format');
};

/** The last param of type.property.invalid; what is no refusal of ours goes on up. */
function reasonOf(error: unknown): string {
  if (error instanceof ConversionError || error instanceof DataError) return error.reason;
  if (error instanceof CascadeError && error.code === 'cascade.lang.arithmetic.overflow') return 'range';
  throw error;
}

/**
 * An Object property that is typed with another type's name: by that type's properties; defaults are not filled in. System properties
 * in it (an instance that a program has selected) are plain data.
 */
function* coerceStructure(place: Place, structure: TypeDefinition, object: ObjectValue): InPieces<ObjectValue> {
  const { typeName, path, isExternal = false } = place;
  if (path.split('.').length > MAX_DATA_DEPTH) throw apiError('cascade.type.property.invalid', typeName, path, structure.name, 'depth');
  const problems = new Problems();
  const result: ObjectValue = {};
  for (const key of Object.keys(object)) {
    const property = structure.properties.get(key);
    const inside = path === '' ? key : `${path}.${key}`;
    const value = object[key] as Value;
    try {
      if (property) {
        const within: Place = { typeName, property, path: inside, isExternal };
        setOwn(
          result,
          key,
          isExternal || !isDivisible(value) ? fitting(within, value) : fits(within, yield* coerceInPieces(within, value)),
        );
      } else if (key === '_id' || Object.hasOwn(SYSTEM_PROPERTIES, key)) setOwn(result, key, coerceData(typeName, inside, value));
      else throw apiError('cascade.type.property.unknown', typeName, inside);
    } catch (error) {
      problems.caught(error);
    }
  }
  for (const { name, required } of structure.properties.values()) {
    if (required && getOwn(object, name) === null)
      problems.add(apiError('cascade.type.property.required', typeName, path === '' ? name : `${path}.${name}`));
  }
  problems.raise();
  return result;
}

function coerceData(typeName: string, path: string, value: Value): Value {
  try {
    return plainData(value);
  } catch (error) {
    throw apiError('cascade.type.property.invalid', typeName, path, 'Object', reasonOf(error));
  }
}
