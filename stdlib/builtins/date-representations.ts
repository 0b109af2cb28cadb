// `date(value, source, destination)`: one instant in eight spellings (builtins.md 6.2).
import { unconvertible } from '../convert/index.ts';
import { fail } from '../errors.ts';
import { DateTime, dateTimeOf, integer, isInteger, isNumber, numberOf, parseDateTime, typeOf, type Value } from '../values/index.ts';

/** Milliseconds of each counting representation. */
const EPOCH_UNITS: Record<string, number> = {
  epochDays: 86_400_000,
  epochHours: 3_600_000,
  epochMinutes: 60_000,
  epochSeconds: 1000,
  epochMilliseconds: 1,
  epochMicroseconds: 0.001,
};

/** Destinations are cut off below their unit, before 1970 too. */
export function convertDate(value: Value, source: string, destination: string): Value {
  for (const name of [source, destination])
    if (name !== 'date' && name !== 'ISO' && !Object.hasOwn(EPOCH_UNITS, name)) fail('cascade.lang.range', 'representation', name);
  const instant = read(value, source);
  if (destination === 'date') return instant;
  if (destination === 'ISO') return instant.toString();
  if (destination === 'epochMicroseconds') return integer(BigInt(instant.ms) * 1000n);
  return Math.floor(instant.ms / (EPOCH_UNITS[destination] as number));
}

function read(value: Value, source: string): DateTime {
  if (source === 'date' && value instanceof DateTime) return value;
  if (typeof value === 'string' && (source === 'date' || source === 'ISO'))
    return parseDateTime(value.trim()) ?? unconvertible(value, 'DateTime');
  if (source !== 'ISO' && (source === 'date' ? isInteger(value) : isNumber(value))) {
    const count = Math.trunc(numberOf(value));
    const ms = source === 'epochMicroseconds' ? millisecondsOf(value, count) : count * (EPOCH_UNITS[source] ?? 1);
    return dateTimeOf(ms) ?? unconvertible(value, 'DateTime');
  }
  const expected = source === 'date' ? 'DateTime' : source === 'ISO' ? 'String' : 'Integer';
  return fail('cascade.procedure.parameter.type', 'date', 'value', expected, typeOf(value));
}

/** Microseconds cut off below the millisecond; those of a distant year are beyond the Integers that a double holds. */
function millisecondsOf(microseconds: Value, rounded: number): number {
  if (typeof microseconds !== 'bigint') return Math.floor(rounded / 1000);
  const rest = ((microseconds % 1000n) + 1000n) % 1000n;
  return Number((microseconds - rest) / 1000n);
}
