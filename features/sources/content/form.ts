// The encoding application/x-www-form-urlencoded, which query strings share (integrations.md 2.2, 2.4).
import { getOwn, isObject, type ObjectValue, setOwn, text, type Value } from '../../../stdlib/values/index.ts';
import { toJson } from '../../../model/values/index.ts';
import type { InPieces } from '../../../model/types/index.ts';
import { ContentError, ContentTooLarge } from './errors.ts';

/** Pairs in the order of the keys: null leaves a key out, an array repeats it, an Object becomes JSON. */
export function pairsOf(object: ObjectValue): [string, string][] {
  return Object.keys(object).flatMap((key) => {
    const value = getOwn(object, key);
    if (Array.isArray(value)) return value.filter((one) => one !== null).map((one): [string, string] => [key, parameter(one)]);
    return value === null ? [] : [[key, parameter(value)] as [string, string]];
  });
}

const parameter = (value: Value): string => (Array.isArray(value) || isObject(value) ? toJson(value) : text(value));

export const encodePairs = (pairs: readonly (readonly [string, string])[]): string =>
  pairs.map((pair) => pair.map((text) => encodeURIComponent(text.toWellFormed())).join('=')).join('&');

export function writeForm(value: Value): string {
  if (typeof value === 'string') return value;
  if (!isObject(value)) throw new ContentError('a form is made of an Object or a String');
  return encodePairs(pairsOf(value));
}

/** Strings by name; a repeated name gives an array. Gives way after each few pairs. @throws ContentTooLarge */
export function* parseForm(source: string, mostValues: number): InPieces<ObjectValue> {
  const object: ObjectValue = {};
  let pairs = 0;
  for (let at = 0, end = 0; at <= source.length; at = end + 1) {
    end = source.indexOf('&', at);
    if (end < 0) end = source.length;
    // The mark stands in front so that one at the beginning of a name stays a part of it.
    for (const [key, value] of new URLSearchParams(`?${source.slice(at, end)}`)) {
      const before = Object.hasOwn(object, key) ? getOwn(object, key) : undefined;
      if (before === undefined) setOwn(object, key, value);
      else if (Array.isArray(before)) before.push(value);
      else setOwn(object, key, [before, value]);
    }
    if (++pairs > mostValues) throw new ContentTooLarge(mostValues);
    if (pairs % PIECE_PAIRS === 0) yield;
  }
  return object;
}

const PIECE_PAIRS = 64;
