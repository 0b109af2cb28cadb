// JSON in which values keep their types between two installations (integrations.md 11.3, `X-Cascade-Values: typed`): `{"$dt"}`, `{"$dec"}`,
// `{"$cur"}`, `{"$ref"}`, `{"$long"}`; an Object that would look like one of these, or begins so, stands in `{"$obj"}`.
import {
  Currency,
  DateTime,
  Decimal,
  formatReal,
  getOwn,
  isObject,
  isReference,
  type ObjectValue,
  parseCurrency,
  parseDateTime,
  parseDecimal,
  parseInteger,
  Real,
  setOwn,
  type Value,
} from '../../stdlib/values/index.ts';
import { type InPieces, isDivisible, runsOf, SYSTEM_PROPERTIES, type TypeDefinition } from '../types/index.ts';

/** Another value than data: a Function, Lock, Map, Matcher or Sequence. */
export class Untransferable extends Error {}

/** @param isCondition operators of a where-object stay as they are. @throws Untransferable */
export function toTypedJson(value: Value, isCondition = false): string {
  if (value === null || value === undefined || typeof value === 'boolean' || typeof value === 'string')
    return JSON.stringify(value ?? null);
  if (typeof value === 'bigint') return `{"$long":"${value}"}`;
  if (typeof value === 'number') return String(value);
  if (value instanceof Real) return value.text ?? (Number.isFinite(value.value) ? formatReal(value.value) : 'null');
  if (value instanceof DateTime) return `{"$dt":"${value.toString()}"}`;
  if (value instanceof Decimal) return `{"$dec":"${value.toString()}"}`;
  if (value instanceof Currency) return `{"$cur":"${value.toString()}"}`;
  if (Array.isArray(value)) return `[${value.map((element) => toTypedJson(element, isCondition)).join(',')}]`;
  if (!isObject(value)) throw new Untransferable();
  if (!isCondition && isReference(value) && !value.resource.includes('/'))
    return `{"$ref":${JSON.stringify(`/${value.resource}/${value.resourceId}`)}}`;
  const keys = Object.keys(value);
  const text = `{${keys.map((key) => `${JSON.stringify(key)}:${toTypedJson(getOwn(value, key), isCondition)}`).join(',')}}`;
  return keys.length === 1 && keys[0]?.startsWith('$') && !isCondition ? `{"$obj":${text}}` : text;
}

/** The same for a long value, which would keep the thread. @throws Untransferable */
export function* toTypedJsonInPieces(value: Value): InPieces<string> {
  if (!isDivisible(value) || isReference(value)) return toTypedJson(value);
  const texts: string[] = [];
  if (Array.isArray(value)) {
    for (const { from, to, isDivisible: isLarge } of runsOf(value.length, (index) => value[index])) {
      texts.push(isLarge ? yield* toTypedJsonInPieces(value[from] as Value) : toTypedJson(value.slice(from, to)).slice(1, -1));
      yield;
    }
    return `[${texts.join(',')}]`;
  }
  const names = Object.keys(value);
  const member = (index: number): Value => getOwn(value, names[index] as string);
  for (const { from, to, isDivisible: isLarge } of runsOf(names.length, member)) {
    for (let index = from; index < to; index++) {
      const text = isLarge ? yield* toTypedJsonInPieces(member(index)) : toTypedJson(member(index));
      texts.push(`${JSON.stringify(names[index])}:${text}`);
    }
    yield;
  }
  const text = `{${texts.join(',')}}`;
  return names.length === 1 && names[0]?.startsWith('$') ? `{"$obj":${text}}` : text;
}

/** As `instanceToJson`, with typed values. */
export const instanceToTypedJson = (type: TypeDefinition, instance: ObjectValue): string => toTypedJson(shownOf(type, instance));

export const instanceToTypedJsonInPieces = (type: TypeDefinition, instance: ObjectValue): InPieces<string> =>
  toTypedJsonInPieces(shownOf(type, instance));

function shownOf(type: TypeDefinition, instance: ObjectValue): ObjectValue {
  const shown: ObjectValue = {};
  for (const name of ['_id', ...type.properties.keys(), ...Object.keys(SYSTEM_PROPERTIES)])
    if (Object.hasOwn(instance, name)) setOwn(shown, name, getOwn(instance, name));
  return shown;
}

const READERS: Readonly<Record<string, (text: string) => Value | null>> = {
  $dt: parseDateTime,
  $dec: parseDecimal,
  $cur: parseCurrency,
  $ref: referenceOf,
  $long: parseInteger,
};

/** `/resource/id`; any other text stays one. */
function referenceOf(text: string): Value {
  const [, resource, resourceId] = /^\/([^/]+)\/(.*)$/s.exec(text) ?? [];
  return resource === undefined || resourceId === undefined ? text : { resource, resourceId };
}

/** The values of such JSON, of the tree that it was parsed to. What is no value of the form stays an Object. */
export function fromTyped(tree: Value): Value {
  if (Array.isArray(tree)) return tree.map(fromTyped);
  if (!isObject(tree)) return tree;
  const [only, ...more] = Object.keys(tree);
  if (only !== undefined && more.length === 0) {
    const inner = getOwn(tree, only);
    if (only === '$obj' && isObject(inner)) return members(inner);
    const read = Object.hasOwn(READERS, only) && typeof inner === 'string' ? READERS[only]?.(inner) : null;
    if (read !== null && read !== undefined) return read;
  }
  return members(tree);
}

/** The same for a long tree, which would keep the thread. */
export function* fromTypedInPieces(tree: Value): InPieces<Value> {
  if (!isDivisible(tree)) return fromTyped(tree);
  if (!Array.isArray(tree)) {
    const inner = Object.hasOwn(tree, '$obj') && Object.keys(tree).length === 1 ? getOwn(tree, '$obj') : null;
    return yield* membersInPieces(isObject(inner) ? inner : tree);
  }
  const result: Value[] = [];
  for (const { from, to, isDivisible: isLarge } of runsOf(tree.length, (index) => tree[index])) {
    if (isLarge) result.push(yield* fromTypedInPieces(tree[from] as Value));
    else for (let index = from; index < to; index++) result.push(fromTyped(tree[index] as Value));
    yield;
  }
  return result;
}

function* membersInPieces(tree: ObjectValue): InPieces<ObjectValue> {
  const result: ObjectValue = {};
  const names = Object.keys(tree);
  const member = (index: number): Value => getOwn(tree, names[index] as string);
  for (const { from, to, isDivisible: isLarge } of runsOf(names.length, member)) {
    for (let index = from; index < to; index++)
      setOwn(result, names[index] as string, isLarge ? yield* fromTypedInPieces(member(index)) : fromTyped(member(index)));
    yield;
  }
  return result;
}

function members(tree: ObjectValue): ObjectValue {
  const result: ObjectValue = {};
  for (const key of Object.keys(tree)) setOwn(result, key, fromTyped(getOwn(tree, key)));
  return result;
}
