// Plain objects as the language's ordered maps: own keys only, whatever they are called, and copies of whole values.
import { fail } from '../errors.ts';
import { failDeep, MAX_DEPTH } from './depth.ts';
import type { ObjectValue, Value } from './kinds.ts';

/** The most elements of an Array (language.md 10). */
export const MAX_ELEMENTS = 10_000_000;

/** An Object of the language; none of the scalar classes, no array. */
export function isObject(v: unknown): v is ObjectValue {
  if (typeof v !== 'object' || v === null) return false;
  const prototype: unknown = Object.getPrototypeOf(v);
  return prototype === Object.prototype || prototype === null;
}

/** Null where the key is absent; keys such as `constructor` are nothing special. */
export function getOwn(object: ObjectValue, key: string): Value {
  return Object.hasOwn(object, key) ? (object[key] as Value) : null;
}

export function setOwn(object: ObjectValue, key: string, value: Value): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

/** The internal form of a ResourceReference: exactly `resource` and `resourceId`, both text (builtins.md 0.3). */
export function isReference(v: Value): v is { resource: string; resourceId: string } {
  if (!isObject(v) || !Object.hasOwn(v, 'resource') || typeof v.resource !== 'string') return false;
  return Object.hasOwn(v, 'resourceId') && typeof v.resourceId === 'string' && Object.keys(v).length === 2;
}

/** About what a copy takes, and each element or property of it. */
const COPY_BYTES = 48;
const ELEMENT_BYTES = 16;

/**
 * Objects and Arrays copied at every depth; scalars and local values are shared. A cycle or a giant is refused.
 * @param shared told of each value inside that cannot be copied
 */
export function deepCopy(v: Value, shared?: (value: Value) => void): Value {
  return typeof v === 'object' && v !== null ? copy(v, 0, { whole: v, left: MAX_ELEMENTS, charge: undefined, shared }) : v;
}

/** As deepCopy; `charge` is told of the bytes before they are taken. */
export function deepCopyCounted(v: Value, charge: ((bytes: number) => void) | undefined): Value {
  return typeof v === 'object' && v !== null ? copy(v, 0, { whole: v, left: MAX_ELEMENTS, charge, shared: undefined }) : v;
}

interface Budget {
  readonly whole: Value;
  left: number;
  readonly charge: ((bytes: number) => void) | undefined;
  readonly shared: ((value: Value) => void) | undefined;
}

function copy(v: Value, depth: number, budget: Budget): Value {
  if (typeof v !== 'object' || v === null) {
    if (typeof v === 'function') budget.shared?.(v);
    return v;
  }
  if (depth > MAX_DEPTH) failDeep('the value', budget.whole);
  if (Array.isArray(v)) {
    if ((budget.left -= v.length) < 0) fail('cascade.execution.memory', 'List', MAX_ELEMENTS);
    budget.charge?.(COPY_BYTES + v.length * ELEMENT_BYTES);
    const result = v.slice(); // of exactly this size; a growing one would take room for more
    for (let i = 0; i < result.length; i++) result[i] = copy(result[i] as Value, depth + 1, budget);
    return result;
  }
  if (!isObject(v)) {
    budget.shared?.(v);
    return v;
  }
  const result: ObjectValue = {};
  const keys = Object.keys(v);
  budget.charge?.(COPY_BYTES + keys.length * ELEMENT_BYTES);
  for (const key of keys) {
    if (--budget.left < 0) fail('cascade.execution.memory', 'Object', MAX_ELEMENTS);
    setOwn(result, key, copy(v[key] as Value, depth + 1, budget));
  }
  return result;
}
