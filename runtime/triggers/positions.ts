// Positions of values on a line of doubles, for ranges. The mapping keeps the order but may map different values to one position, so
// results are tested again. Numbers and instants have one line, texts another (by their first six bytes).
import { Currency, DateTime, Decimal, isNumber, numberOf, parseDateTime, Real, text, type Value } from '../../stdlib/values/index.ts';
import type { Kind } from '../../model/query/index.ts';
import { numbersIn } from './keys.ts';

export type Line = 'numbers' | 'texts';

export interface Position {
  readonly line: Line;
  readonly at: number;
}

/** The position of a value; null where it has none. */
export function positionOf(kind: Kind, value: Value): Position | null {
  if (typeof value === 'string')
    return kind === 'Json' ? { line: 'texts', at: unitsPosition(value) } : { line: 'texts', at: bytesPosition(value) };
  const at = numberPosition(value);
  return at === null ? null : { line: 'numbers', at };
}

/** Whether a value's position is the value itself, so that the line's order is exact. */
export const isExact = (value: Value): boolean => typeof value === 'number' || value instanceof Real || value instanceof DateTime;

/** Whether that holds for a value of an event, which must be of its path's declared kind. */
export const isExactAt = (kind: Kind, value: Value): boolean => isExact(value) && (kind === 'DateTime') === value instanceof DateTime;

/**
 * Whether no other value of the kind shares the bound's position: beyond the bound is then beyond the position. Integers of 2^53 and more
 * share positions.
 */
export const standsAlone = (kind: Kind, bound: Value): boolean =>
  isExact(bound) && (kind === 'Real' || kind === 'DateTime' || (kind === 'Integer' && Math.abs(numberPosition(bound) as number) < 2 ** 53));

/** The positions of a bound: on both lines where data of either kind may be compared with it (language.md 4.7). */
export function boundPositions(kind: Kind, bound: Value): Position[] {
  const own = positionOf(kind, bound);
  if (kind !== 'Json') return own ? [own] : [];
  if (typeof bound === 'string') return [own as Position, ...textAsNumber(bound.trim())];
  if (isNumber(bound) || bound instanceof DateTime) return [own as Position, { line: 'texts', at: unitsPosition(text(bound)) }];
  return own ? [own] : [];
}

function numberPosition(value: Value): number | null {
  if (value instanceof DateTime) return value.ms;
  if (isNumber(value) || value instanceof Decimal || value instanceof Currency) return numberOf(value);
  return null;
}

/** The positions of a text as a number: it may be an amount or an instant that is compared with one. */
function textAsNumber(trimmed: string): Position[] {
  const { amount, currency } = numbersIn(trimmed);
  const at = numberPosition(amount ?? currency ?? parseDateTime(trimmed));
  return at === null ? [] : [{ line: 'numbers', at }];
}

const BYTES = 6;
const encoder = new TextEncoder();

/** The position by the order of UTF-8 bytes, which declared Strings have. */
function bytesPosition(value: string): number {
  const bytes = encoder.encode(value.slice(0, BYTES));
  let at = 0;
  for (let i = 0; i < BYTES; i++) at = at * 256 + (bytes[i] ?? 0);
  return at;
}

/** The position by the order of code units, which the language uses. */
function unitsPosition(value: string): number {
  let at = 0;
  for (let i = 0; i < BYTES / 2; i++) at = at * 65_536 + (i < value.length ? value.charCodeAt(i) : 0);
  return at;
}
