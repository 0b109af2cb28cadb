// JSON text to values (builtins.md 13 `parse`): Integers keep all their digits, `5.0` stays a Real.
import { fail } from '../errors.ts';
import { JsonProblem, readJson } from './json-reader.ts';
import type { Value } from './kinds.ts';
import { integer, MAX_INTEGER, MIN_INTEGER, real } from './numbers.ts';
import { MAX_DEPTH } from './depth.ts';

/** Numbers that JSON.parse might not keep: many digits, an exponent, an empty fraction, -0. In strings they only cost time. */
const DELICATE = /[\d.]{16}|\d[eE]|\.0+(?!\d)|-0(?![.\d])/;
const READING = { maxDepth: MAX_DEPTH + 1, maxValues: Number.POSITIVE_INFINITY, toNumber, onLoneSurrogate: () => undefined };

/** Any JSON value; other text is a parse error with its reason and position. Duplicate keys: the last one. */
export function parseJsonText(text: string): Value {
  if (!DELICATE.test(text)) {
    try {
      return JSON.parse(text) as Value;
    } catch {
      // the reader below tells where
    }
  }
  try {
    return readJson(text, READING);
  } catch (error) {
    if (error instanceof JsonProblem) return fail('cascade.builtin.parse', error.reason, error.index);
    throw error;
  }
}

/** Integers beyond 64 bits become Reals. */
function toNumber(token: string): Value {
  if (/[.eE]/.test(token)) return real(Number(token));
  if (token.length <= 15) return Number(token) + 0; // + 0: there is no Integer -0
  if (token.length > 20) return real(Number(token));
  const exact = BigInt(token);
  return exact < MIN_INTEGER || exact > MAX_INTEGER ? real(Number(token)) : integer(exact);
}
