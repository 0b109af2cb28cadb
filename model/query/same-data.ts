// Equality of data in the store without regard to the order of members. The store's own `$eq` minds the order; its JSON Schema does not.
import type { Document } from 'mongodb';
import { getOwn, isObject, setOwn, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../errors/index.ts';
import { toBson } from '../values/index.ts';
import { isPosition } from './leaves.ts';

/** Null when `$eq` will do. */
export function sameDataFilter(at: string, value: Value): Document | null {
  return hasOneOrder(value) ? null : schemaFilter(at, { enum: [toBson(value)] });
}

/** At the path is a value, or an array with one, that the schema describes. */
export const schemaFilter = (at: string, schema: Document): Document => ({ $jsonSchema: schemaOf(at.split('.'), schema) });

/** An array whose elements the schemas describe one by one. */
export const arraySchema = (elements: readonly Document[]): Document => ({
  bsonType: 'array',
  minItems: elements.length,
  maxItems: elements.length,
  ...(elements.length > 0 && { items: elements }),
});

/** No Object in the value has more than one member. */
export function hasOneOrder(value: Value): boolean {
  if (Array.isArray(value)) return value.every(hasOneOrder);
  if (!isObject(value)) return true;
  const names = Object.keys(value);
  return names.length <= 1 && names.every((name) => hasOneOrder(getOwn(value, name)));
}

/** Objects that have, at the end of the path, such a value or an array with one; through arrays of Objects, as conditions go. */
function schemaOf(steps: readonly string[], schema: Document): Document {
  const [step, ...rest] = steps as [string, ...string[]];
  return {
    bsonType: 'object',
    required: [step],
    properties: { [step]: rest.length === 0 ? leafSchema(schema) : throughArrays(rest, schema) },
  };
}

function leafSchema(schema: Document): Document {
  return { anyOf: [schema, someItem(schema)] };
}

function throughArrays(steps: readonly string[], schema: Document): Document {
  const inObject = schemaOf(steps, schema);
  const ways = [inObject, someItem(inObject)];
  const [step, ...rest] = steps as [string, ...string[]];
  if (isPosition(step) && Number(step) < MAX_POSITION) {
    const before = Array.from({ length: Number(step) }, () => ({}));
    const there = rest.length === 0 ? leafSchema(schema) : throughArrays(rest, schema);
    ways.push({ bsonType: 'array', minItems: Number(step) + 1, items: [...before, there] });
  }
  return { anyOf: ways };
}
/** Positions beyond are not looked at: a schema names every position before. */
const MAX_POSITION = 1000;

const someItem = (schema: Document): Document => ({ bsonType: 'array', not: { items: { not: schema } } });

/** The most orders of members that are tried one by one. */
const MAX_ORDERINGS = 720;

/** The value with its members in every order; for places where the store has no JSON Schema. */
export function orderings(value: Value): Value[] {
  if (Array.isArray(value)) {
    return value.reduce<Value[]>((heads, element) => pairs(heads, orderings(element), (head, next) => [...(head as Value[]), next]), [[]]);
  }
  if (!isObject(value)) return [value];
  const names = Object.keys(value);
  const members = new Map(names.map((name) => [name, orderings(getOwn(value, name))]));
  const orders = permutations(names);
  const each = [...members.values()].reduce((product, { length }) => product * length, 1);
  if (orders.length * each > MAX_ORDERINGS) throw apiError('cascade.query.too.expensive', 'orderings');
  return orders.flatMap((order) =>
    order.reduce<Value[]>(
      (heads, name) => pairs(heads, members.get(name) as Value[], (head, next) => extended(head as ObjectValue, name, next)),
      [{}],
    ),
  );
}

function pairs(heads: readonly Value[], nexts: readonly Value[], join: (head: Value, next: Value) => Value): Value[] {
  if (heads.length * nexts.length > MAX_ORDERINGS) throw apiError('cascade.query.too.expensive', 'orderings');
  return heads.flatMap((head) => nexts.map((next) => join(head, next)));
}

function extended(object: ObjectValue, name: string, member: Value): ObjectValue {
  const result = { ...object };
  setOwn(result, name, member);
  return result;
}

function permutations(names: readonly string[]): string[][] {
  if (names.length > 6) throw apiError('cascade.query.too.expensive', 'orderings');
  if (names.length <= 1) return [[...names]];
  return names.flatMap((name) => permutations(names.filter((other) => other !== name)).map((rest) => [name, ...rest]));
}
