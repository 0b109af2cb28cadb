// Constants of conditions on user scalars (resources-and-api.md 3.3, 4.2): converted by `toConstraint` before the base type is checked, and
// compared by `comparator` where there is one. The result is a where-object with stored values.

import { encodeInner, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { type ConditionContext, requireModest, substitute } from '../../model/query/index.ts';
import { coerceProperty, type PropertyDefinition, type ScalarDefinition, type TypeDefinition } from '../../model/types/index.ts';
import type { InstanceResource, Namespace } from '../catalog/index.ts';
import { comparePairs, convertEach, type Outcome } from './calls.ts';
import { storedValues } from './stored-values.ts';
import { uses } from './slots.ts';

/** A constant on a scalar, in a condition that takes its stored form. */
export interface Constant {
  readonly scalar: ScalarDefinition;
  readonly value: Value;
  put(value: Value): void;
}

const ONE = new Set(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte']);
const LISTS = new Set(['$in', '$nin', '$all']);
const JOINS = new Set(['$and', '$or', '$nor']);

/** Bound of the pairs that the comparators of a condition are asked for. */
const MOST_PAIRS = 100_000;

/** What one condition asks of comparators. */
class Comparing {
  readonly #space: Namespace;
  readonly #resource: InstanceResource;
  readonly #actor: Actor;
  /** By property: to read them takes a look at all instances. */
  readonly #stored = new Map<string, Promise<Value[]>>();
  #pairs = 0;

  constructor(space: Namespace, resource: InstanceResource, actor: Actor) {
    this.#space = space;
    this.#resource = resource;
    this.#actor = actor;
  }

  /** The stored values of a property. @throws cascade.query.too.expensive */
  stored(property: PropertyDefinition): Promise<Value[]> {
    const { name } = property;
    const known = this.#stored.get(name) ?? storedValues(this.#space, this.#resource, name, this.#actor);
    this.#stored.set(name, known);
    return known;
  }

  /** The value as the property has it. @throws where it is no value of the base type */
  coerced(property: PropertyDefinition, value: Value): Value {
    return coerceProperty(this.#resource.type, property, value);
  }

  property(name: string): PropertyDefinition | undefined {
    return this.#resource.type.properties.get(name);
  }

  /** Each value with each constant, and the comparator's number for the two. @throws cascade.query.too.expensive, the comparator's errors */
  async signs(
    property: PropertyDefinition,
    values: readonly Value[],
    constants: readonly Value[],
  ): Promise<[value: Value, sign: number][]> {
    this.#pairs += values.length * constants.length;
    if (this.#pairs > MOST_PAIRS) throw apiError('cascade.query.too.expensive', 'comparator');
    const pairs = constants.flatMap((constant) => values.map((value): [Value, Value] => [value, constant]));
    const signs = await comparePairs(this.#space, property.scalar as ScalarDefinition, pairs, this.#actor);
    return signs.map((sign, index) => [(pairs[index] as [Value, Value])[0], sign]);
  }
}

/** @throws errors of `toConstraint`; cascade.query.substitution.unknown, query.too.expensive */
export async function withConstraints(
  space: Namespace,
  resource: InstanceResource,
  where: Value,
  context: ConditionContext,
  actor: Actor,
): Promise<Value> {
  const { type } = resource;
  if (!(uses(type, 'toConstraint') || uses(type, 'toInternal') || uses(type, 'comparator'))) return where;
  const constants: Constant[] = [];
  const substituted = substitute(where, context);
  requireModest(substituted);
  const rewritten = whereOf(substituted, type, constants);
  await convertAll(space, constants, actor);
  return uses(type, 'comparator') ? compared(rewritten, new Comparing(space, resource, actor)) : rewritten;
}

/** Whether constants on properties of the type are converted by procedures. */
export const convertsConstants = (type: TypeDefinition): boolean => uses(type, 'toConstraint') || uses(type, 'toInternal');

/** A copy of a condition whose substitutions are made, with the constants that procedures convert. */
export function withOpenConstants(where: Value, type: TypeDefinition): { readonly where: Value; readonly constants: readonly Constant[] } {
  const constants: Constant[] = [];
  return { where: whereOf(where, type, constants), constants };
}

/** The stored forms of constants, in order. */
export async function storedConstants(
  space: Namespace,
  constants: readonly Pick<Constant, 'scalar' | 'value'>[],
  actor: Actor,
): Promise<Outcome[]> {
  const each = constants.map(({ scalar, value }) => convertEach(space, scalar, actionFor(scalar) ?? 'toInternal', [value], actor));
  return (await Promise.all(each)).flat();
}

/** The stored form of a key in an address. */
export async function keyConstant(
  space: Namespace,
  resource: InstanceResource,
  property: string,
  key: Value,
  actor: Actor,
): Promise<Value> {
  const constants: Constant[] = [];
  const rewritten = whereOf({ [property]: { $eq: key } }, resource.type, constants) as ObjectValue;
  await convertAll(space, constants, actor);
  return getOwn(getOwn(rewritten, property) as ObjectValue, '$eq');
}

// ---------------------------------------------------------------- constants
/** Rebuilds a where-object with its constants left open; invalid conditions stay, and the parser refuses them. */
function whereOf(where: Value, type: TypeDefinition, constants: Constant[]): Value {
  if (!isObject(where)) return where;
  const result: ObjectValue = {};
  for (const name of Object.keys(where)) {
    const value = getOwn(where, name);
    if (JOINS.has(name)) setOwn(result, name, Array.isArray(value) ? value.map((term) => whereOf(term, type, constants)) : value);
    else setOwn(result, name, memberOf(propertyAt(type, name), value, constants));
  }
  return result;
}

/** The property at the end of a path, through Objects of other types; `multi` is false where a position selects an element. */
function propertyAt(type: TypeDefinition, path: string): PropertyDefinition | null {
  const [name = '', ...rest] = path.split('.');
  const property = type.properties.get(name);
  if (!property || property.kind === 'base') return null;
  const picked = property.multi && rest.length > 0 && /^\d+$/.test(rest[0] as string);
  const inner = picked ? rest.slice(1) : rest;
  if (inner.length === 0) return picked ? { ...property, multi: false } : property;
  const members = property.structure?.();
  return members ? propertyAt(members, inner.join('.')) : null;
}

function memberOf(property: PropertyDefinition | null, value: Value, constants: Constant[]): Value {
  if (!property) return value;
  if (isOperators(value)) return operatorsOf(property, value, constants);
  if (value === null || (procedureOf(property) === null && property.structure === undefined)) return value;
  const result: ObjectValue = {};
  leaveOpen(property, value, constants, (converted) => setOwn(result, '$eq', converted));
  return result;
}

function operatorsOf(property: PropertyDefinition, operators: ObjectValue, constants: Constant[]): ObjectValue {
  const result: ObjectValue = {};
  for (const name of Object.keys(operators)) {
    const operand = getOwn(operators, name);
    const put = (converted: Value): void => setOwn(result, name, converted);
    put(operand);
    if (name === '$elemMatch') put(elementOf(property, operand, constants));
    else if (name === '$not' && isObject(operand)) put(operatorsOf(property, operand, constants));
    else if (procedureOf(property) === null && property.structure === undefined) continue;
    else if (ONE.has(name)) leaveOpen(property, operand, constants, put);
    else if (LISTS.has(name) && Array.isArray(operand)) {
      const list = [...operand];
      operand.forEach((element, index) => leaveOpen(property, element, constants, (converted) => (list[index] = converted)));
      put(list);
    }
  }
  return result;
}

function elementOf(property: PropertyDefinition, operand: Value, constants: Constant[]): Value {
  const members = property.structure?.();
  if (members) return whereOf(operand, members, constants);
  return isObject(operand) ? operatorsOf({ ...property, multi: false }, operand, constants) : operand;
}

/** Leaves a constant open, or for a multi-valued property the elements of a whole array, or in a whole Object of another type its members. */
function leaveOpen(property: PropertyDefinition, value: Value, constants: Constant[], put: (converted: Value) => void): void {
  put(value);
  if (value === null || (procedureOf(property) === null && property.structure === undefined)) return;
  if (!property.multi || !Array.isArray(value)) {
    if (property.scalar) constants.push({ scalar: property.scalar, value, put });
    else if (isObject(value)) put(membersOpen(property, value, constants));
    return;
  }
  const elements = [...value];
  value.forEach((element, index) =>
    leaveOpen({ ...property, multi: false }, element, constants, (converted) => (elements[index] = converted)),
  );
  put(elements);
}

function membersOpen(property: PropertyDefinition, object: ObjectValue, constants: Constant[]): ObjectValue {
  const members = property.structure?.()?.properties;
  const result: ObjectValue = {};
  for (const name of Object.keys(object)) {
    const value = getOwn(object, name);
    const put = (converted: Value): void => setOwn(result, name, converted);
    const declared = members?.get(name);
    if (declared) leaveOpen(declared, value, constants, put);
    else put(value);
  }
  return result;
}

const isOperators = (value: Value): value is ObjectValue => isObject(value) && Object.keys(value).some((name) => name.startsWith('$'));

/** The procedure for constants: `toConstraint`, by default `toInternal`; null: constants stay unchanged. */
export const actionFor = (scalar: ScalarDefinition): 'toConstraint' | 'toInternal' | null =>
  scalar.toConstraint !== undefined ? 'toConstraint' : scalar.toInternal === undefined ? null : 'toInternal';

const procedureOf = ({ scalar }: PropertyDefinition): ReturnType<typeof actionFor> => (scalar ? actionFor(scalar) : null);

async function convertAll(space: Namespace, constants: readonly Constant[], actor: Actor): Promise<void> {
  await Promise.all(
    constants.map(async ({ scalar, value, put }) => {
      const [outcome] = await storedConstants(space, [{ scalar, value }], actor);
      if (outcome && 'error' in outcome) throw outcome.error;
      if (outcome) put(outcome.value);
    }),
  );
}

// ---------------------------------------------------------------- comparator
const SIGNS: Readonly<Record<string, (sign: number) => boolean>> = {
  $eq: (sign) => sign === 0,
  $in: (sign) => sign === 0,
  $ne: (sign) => sign === 0,
  $nin: (sign) => sign === 0,
  $gt: (sign) => sign > 0,
  $gte: (sign) => sign >= 0,
  $lt: (sign) => sign < 0,
  $lte: (sign) => sign <= 0,
};

/**
 * Replaces comparisons of single-valued properties with a comparator by lists of the stored values that satisfy them: the store knows only
 * the order of the base type.
 */
async function compared(where: Value, comparing: Comparing): Promise<Value> {
  if (!isObject(where)) return where;
  const result: ObjectValue = {};
  for (const name of Object.keys(where)) {
    const value = getOwn(where, name);
    const property = comparing.property(name);
    if (JOINS.has(name) && Array.isArray(value)) setOwn(result, name, await Promise.all(value.map((term) => compared(term, comparing))));
    else if (property?.scalar?.comparator === undefined || property.multi || value === null) setOwn(result, name, value);
    else setOwn(result, name, await lists(property, isOperators(value) ? value : { $eq: value }, comparing));
  }
  return result;
}

async function lists(property: PropertyDefinition, operators: ObjectValue, comparing: Comparing): Promise<ObjectValue> {
  const result: ObjectValue = {};
  let among: Value[] | null = null;
  let notAmong: Value[] | null = null;
  for (const name of Object.keys(operators)) {
    const operand = getOwn(operators, name);
    const holds = Object.hasOwn(SIGNS, name) ? SIGNS[name] : undefined;
    const isList = name === '$in' || name === '$nin';
    const constants = isList ? (Array.isArray(operand) ? operand : null) : operand === null ? null : [operand];
    if (name === '$not' && isObject(operand)) setOwn(result, name, await lists(property, operand, comparing));
    else if (!holds || !constants) setOwn(result, name, operand);
    else {
      const found = await satisfying(property, constants, holds, comparing);
      if (found === null) setOwn(result, name, operand);
      else if (name === '$ne' || name === '$nin') notAmong = [...(notAmong ?? []), ...found];
      else among = among === null ? found : intersection(among, found);
    }
  }
  if (among) setOwn(result, '$in', among);
  if (notAmong) setOwn(result, '$nin', notAmong);
  return result;
}

/**
 * The stored values that satisfy a comparison with one of the constants; null when a constant does not fit the base type, which the parser
 * reports.
 */
async function satisfying(
  property: PropertyDefinition,
  constants: readonly Value[],
  holds: (sign: number) => boolean,
  comparing: Comparing,
): Promise<Value[] | null> {
  const wanted: Value[] = [];
  for (const constant of constants)
    try {
      if (constant !== null) wanted.push(comparing.coerced(property, constant));
    } catch {
      return null;
    }
  const found = new Set<Value>();
  for (const [value, sign] of await comparing.signs(property, await comparing.stored(property), wanted)) if (holds(sign)) found.add(value);
  return [...(constants.includes(null) ? [null] : []), ...found];
}

/** The values in both lists. Each list comes from one read of the store, and values are equal when their texts are. */
function intersection(a: readonly Value[], b: readonly Value[]): Value[] {
  const texts = new Set(b.map(encodeInner));
  return a.filter((value) => texts.has(encodeInner(value)));
}
