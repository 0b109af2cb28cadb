// Where values stand on a line of doubles, for ranges. The way there keeps the order but may make two values one, so what the line says
// is tested again. Numbers and instants have one line, texts another (by their first six bytes).
import { Currency, DateTime, Decimal, isNumber, numberOf, parseDateTime, Real, text, type Value } from '../../stdlib/values/index.ts';
import type { Kind } from '../../model/query/index.ts';
import { numbersIn } from './keys.ts';

export type Line = 'numbers' | 'texts';

export interface Position {
  readonly line: Line;
  readonly at: number;
}

/** Null where the value stands on no line. */
export function positionOf(kind: Kind, value: Value): Position | null {
  if (typeof value === 'string')
    return kind === 'Json' ? { line: 'texts', at: unitsPosition(value) } : { line: 'texts', at: bytesPosition(value) };
  const at = numberPosition(value);
  return at === null ? null : { line: 'numbers', at };
}

/** Whether its place on the line is the value itself, so that the line's order is its own. */
export const isExact = (value: Value): boolean => typeof value === 'number' || value instanceof Real || value instanceof DateTime;

/** The same for a value of an event, which must be of its path's declared kind. */
export const isExactAt = (kind: Kind, value: Value): boolean => isExact(value) && (kind === 'DateTime') === value instanceof DateTime;

/** Whether no other value of the kind stands where the bound does: past it is then past its place. Integers of 2^53 and more share places. */
export const standsAlone = (kind: Kind, bound: Value): boolean =>
  isExact(bound) && (kind === 'Real' || kind === 'DateTime' || (kind === 'Integer' && Math.abs(numberPosition(bound) as number) < 2 ** 53));

/** Where a bound stands: on both lines where data of either kind may be compared with it (language.md 4.7). */
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

/** A text may be the amount, or the instant, that an amount or instant is compared with. */
function textAsNumber(trimmed: string): Position[] {
  const { amount, currency } = numbersIn(trimmed);
  const at = numberPosition(amount ?? currency ?? parseDateTime(trimmed));
  return at === null ? [] : [{ line: 'numbers', at }];
}

const BYTES = 6;
const encoder = new TextEncoder();

/** The order of UTF-8 bytes, as declared Strings have it. */
function bytesPosition(value: string): number {
  const bytes = encoder.encode(value.slice(0, BYTES));
  let at = 0;
  for (let i = 0; i < BYTES; i++) at = at * 256 + (bytes[i] ?? 0);
  return at;
}

/** The order of code units, as the language compares. */
function unitsPosition(value: string): number {
  let at = 0;
  for (let i = 0; i < BYTES / 2; i++) at = at * 65_536 + (i < value.length ? value.charCodeAt(i) : 0);
  return at;
}
