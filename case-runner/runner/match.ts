// Whether what came is what was wanted: exactly, or in the members that are named. A mismatch is a sentence with the place.
import { isNumber, type Json, type JsonObject, toJsonText } from '../client/index.ts';
import { Tagged, toJson, type Wanted } from './case-file.ts';

/**
 * @param exact whether objects may have no other members than the wanted ones; arrays always have exactly the wanted elements
 * @returns the first difference, undefined when there is none
 */
export function mismatch(wanted: Wanted, got: Json | undefined, exact: boolean, path = ''): string | undefined {
  const differs = () => `${path || 'the value'} is ${got === undefined ? 'absent' : toJsonText(got)}, wanted ${describe(wanted)}`;
  if (wanted instanceof Tagged) {
    if (got === undefined) return differs();
    const text = typeof got === 'string' ? got : toJsonText(got);
    return wanted.kind === 'any' || new RegExp(wanted.text).test(text) ? undefined : differs();
  }
  if (wanted === null || typeof wanted !== 'object') return wanted === got ? undefined : differs();
  if (isNumber(wanted as Json)) return got !== undefined && isNumber(got) && (wanted as typeof got).equals(got) ? undefined : differs();
  if (Array.isArray(wanted)) {
    if (!Array.isArray(got)) return differs();
    if (got.length !== wanted.length)
      return `${path || 'the value'} has ${got.length} elements, wanted ${wanted.length}: ${toJsonText(got).slice(0, 500)}`;
    return first(wanted.map((item, index) => () => mismatch(item, got[index], exact, `${path}[${index}]`)));
  }
  if (got === undefined || got === null || typeof got !== 'object' || Array.isArray(got) || isNumber(got)) return differs();
  const object: JsonObject = got;
  const extra = exact ? Object.keys(object).find((key) => !Object.hasOwn(wanted, key)) : undefined;
  if (extra !== undefined) return `${path}.${extra} was not wanted, and is ${toJsonText(object[extra]!)}`;
  return first(
    Object.entries(wanted).map(([key, item]) => () => {
      const value = Object.hasOwn(object, key) ? object[key] : undefined;
      return mismatch(item, value, exact, path ? `${path}.${key}` : key);
    }),
  );
}

function first(checks: (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const found = check();
    if (found !== undefined) return found;
  }
  return undefined;
}

function describe(wanted: Wanted): string {
  return wanted instanceof Tagged ? (wanted.kind === 'any' ? 'any value' : `something like ${wanted.text}`) : toJsonText(toJson(wanted));
}
