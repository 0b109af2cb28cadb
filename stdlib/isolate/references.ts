// Members and subscripts (language.md 4.8, Q7). Only own properties are seen; nothing of JavaScript's objects can be reached.
import { Matcher } from '../builtins/index.ts';
import { fail } from '../errors.ts';
import { getOwn, isInteger, isObject, LocalValue, numberOf, Real, setOwn, typeOf, type Value } from '../values/index.ts';
import { LIMITS, NEW_ELEMENT_BYTES, NEW_KEY_BYTES } from './limits.ts';
import { isResultList } from './result-lists.ts';
import type { Run } from './run.ts';
import { Sequence } from './sequence.ts';
import { isSharedMap } from './shared-objects.ts';

/** `object.key`; `path` names the object in an error. */
export function get(object: Value, key: string, path: string): Value {
  if (object === null || object === undefined) return fail('cascade.lang.null', path);
  if (typeof object === 'object') {
    if (Array.isArray(object)) return ofList(object, key);
    if (isObject(object)) return getOwn(object, key);
    if (object instanceof Sequence) return fail('cascade.lang.sequence.operation', `.${key}`);
    if (isSharedMap(object)) return fail('cascade.lang.map.assign'); // entries are asked for elsewhere: this one is read to be changed
    if (object instanceof LocalValue) return ofLocal(object, key);
  }
  if (typeof object === 'string' && (key === 'length' || key === 'size')) return object.length;
  return fail('cascade.lang.property', key, typeOf(object));
}

/** Each element's property; a result list of one element answers as that element. */
function ofList(list: Value[], key: string): Value {
  const isLength = key === 'length' || key === 'size';
  if (list.length === 1 && isResultList(list)) {
    const [only = null] = list;
    if (isObject(only) && (Object.hasOwn(only, key) || !isLength)) return getOwn(only, key);
    if (only instanceof LocalValue) return ofLocal(only, key);
  }
  if (isLength) return list.length;
  return list.map((element) => projected(element, key));
}

function projected(element: Value, key: string): Value {
  if (element === null || element === undefined) return null;
  if (Array.isArray(element)) return element.map((inner) => projected(inner, key));
  return isSharedMap(element) ? fail('cascade.lang.property', key, typeOf(element)) : get(element, key, 'an element');
}

function ofLocal(object: LocalValue, key: string): Value {
  const property = (object as { property?: (key: string) => Value | undefined }).property?.(key);
  return property === undefined ? fail('cascade.lang.property', key, object.typeName) : property;
}

/** `object[index]` */
export function at(object: Value, index: Value, path: string): Value {
  if (object === null || object === undefined) return fail('cascade.lang.null', path);
  if (Array.isArray(object)) {
    if (typeof index === 'string' && !isDigits(index) && isResultList(object)) return get(object, index, path);
    const position = positionOf(index, object.length);
    return object[position] ?? null;
  }
  if (typeof object === 'string') return object[positionOf(index, object.length)] ?? null;
  if (object instanceof Matcher) return isInteger(index) && index < 0 ? null : object.at(positionOf(index, object.size));
  if (object instanceof Sequence) return fail('cascade.lang.sequence.operation', 'a subscript');
  return get(object, keyOf(index), path);
}

/** A subscript of a parameter declared ARRAY: the element must be there. */
export function atInside(object: Value, index: Value, path: string): Value {
  if (Array.isArray(object) && positionOf(index, object.length) >= object.length) fail('cascade.lang.index', index, object.length);
  return at(object, index, path);
}

/** `object.key = value`; the value of the assignment. */
export function set(run: Run, object: Value, key: string, value: Value, path: string): Value {
  if (object === null || object === undefined) return fail('cascade.lang.null', path);
  if (isObject(object)) {
    if (!Object.hasOwn(object, key)) run.charge(NEW_KEY_BYTES + key.length * 2);
    setOwn(object, key, value);
    return value;
  }
  if (isSharedMap(object)) return fail('cascade.lang.map.assign');
  if (object instanceof Sequence) return fail('cascade.lang.sequence.operation', 'an assignment');
  return fail('cascade.lang.property', key, typeOf(object));
}

/** `object[index] = value`; an Array grows, the gap is null. */
export function setAt(run: Run, object: Value, index: Value, value: Value, path: string): Value {
  if (!Array.isArray(object)) return set(run, object, object === null ? '' : keyOf(index), value, path);
  const position = positionOf(index, object.length);
  if (position >= LIMITS.elements) run.exceed('cascade.execution.memory', LIMITS.elements);
  if (position >= object.length) {
    run.charge(NEW_ELEMENT_BYTES + (position - object.length) * 16);
    while (object.length < position) object.push(null);
    object.push(value);
  } else object[position] = value;
  return value;
}

/** The receiver of a method is never null. */
export function receiver(value: Value, path: string): Value {
  return value === null || value === undefined ? fail('cascade.lang.null', path) : value;
}

const isDigits = (text: string): boolean => /^\d+$/.test(text);

/** A whole number from 0: an Integer, an integral Real, or a text of digits. */
function positionOf(index: Value, length: number): number {
  const isPosition = isInteger(index) || index instanceof Real || (typeof index === 'string' && isDigits(index));
  const position = !isPosition ? Number.NaN : typeof index === 'string' ? Number(index) : numberOf(index);
  if (!Number.isInteger(position) || position < 0) return fail('cascade.lang.index', index, length);
  return position;
}

/** The key that a subscript of an Object means. */
function keyOf(index: Value): string {
  if (typeof index === 'string') return index;
  if (isInteger(index)) return String(index);
  return fail('cascade.lang.property', 'a subscript', typeOf(index));
}
