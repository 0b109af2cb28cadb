// Members of a quota document, each checked as it is read. Pure.

import { getOwn, isInteger, isObject, type ObjectValue, typeOf, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';

/** The bound in a member; null: unlimited, which is absent, null or -1. */
export function bound(object: ObjectValue, name: string, prefix: string): number | null {
  const value = Object.hasOwn(object, name) ? getOwn(object, name) : null;
  if (value === null) return null;
  const number = isInteger(value) ? Number(value) : Number.NaN;
  if (number === -1) return null;
  if (!Number.isSafeInteger(number) || number < 0) throw invalid(`${prefix}${name} is no whole number from 0 on, nor -1`);
  return number;
}

export function part(object: ObjectValue, name: string, prefix = ''): ObjectValue {
  const value = Object.hasOwn(object, name) ? getOwn(object, name) : null;
  if (value === null) return {};
  if (!isObject(value)) throw invalid(`${prefix}${name} is a ${typeOf(value)}, no Object`);
  return value;
}

export function requireOnly(object: ObjectValue, known: readonly string[], prefix: string): void {
  const unknown = Object.keys(object).find((name) => !known.includes(name));
  if (unknown !== undefined) throw invalid(`there is no ${prefix}${unknown}`);
}

export function requireFixed(object: ObjectValue, name: string, fixed: unknown, prefix: string): void {
  const value = Object.hasOwn(object, name) ? getOwn(object, name) : null;
  if (value !== null && !isSame(value, fixed)) throw invalid(`${prefix}${name} is ${JSON.stringify(fixed)} for everybody`);
}

function isSame(value: Value, fixed: unknown): boolean {
  if (typeof fixed !== 'object' || fixed === null) return String(value) === String(fixed);
  if (!isObject(value)) return false;
  const names = Object.keys(fixed);
  return Object.keys(value).every(
    (name) => names.includes(name) && isSame(getOwn(value, name), (fixed as Readonly<Record<string, unknown>>)[name]),
  );
}

export const invalid = (reason: string) => apiError('cascade.resource.property.invalid', 'organizations', 'quota', reason);
