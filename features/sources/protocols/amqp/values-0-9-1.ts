// Headers of AMQP 0-9-1 as values of the language, from what amqplib makes of them.
import { DateTime, decimal, isObject, MAX_DATA_DEPTH, type ObjectValue, type Value } from '../../../../stdlib/values/index.ts';

const MOST_MS = 8_640_000_000_000_000;

/** Bytes are text; a timestamp, in whole seconds, is a DateTime, and a decimal a Decimal. @throws RangeError for what is too deep */
export function headersOf(headers: object, depth = 0): ObjectValue {
  if (depth >= MAX_DATA_DEPTH) throw new RangeError(`nesting deeper than ${MAX_DATA_DEPTH}`);
  return Object.fromEntries(Object.entries(headers).map(([name, member]) => [name, valueOf(member, depth + 1)]));
}

function valueOf(member: unknown, depth: number): Value {
  if (Buffer.isBuffer(member)) return member.toString('utf8');
  if (Array.isArray(member)) return Object.values(headersOf(member, depth));
  if (typeof member === 'object' && member !== null) return typed(member) ?? headersOf(member, depth);
  return typeof member === 'string' || typeof member === 'number' || typeof member === 'boolean' ? member : null;
}

/** amqplib's wrapper for values whose type JavaScript does not have. */
type Typed = { readonly '!'?: unknown; readonly value?: unknown };

function typed({ '!': type, value }: Typed): Value | undefined {
  if (type === 'timestamp' && typeof value === 'number') return value * 1_000 <= MOST_MS ? new DateTime(value * 1_000) : value;
  if (type !== 'decimal' || !isObject(value)) return undefined;
  // 32 bits, with at most 255 places: no Decimal is too small for that.
  const { digits, places } = value as unknown as { digits: number; places: number };
  return decimal(BigInt(digits), places);
}
