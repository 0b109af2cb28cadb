// The types that signatures name: who fits, who is widened (builtins.md 0.1 C6), and in what form the built-in gets it.
import {
  Currency,
  DateTime,
  Decimal,
  dateTimeOf,
  decimalOfNumber,
  isInteger,
  isNumber,
  isObject,
  LocalValue,
  numberOf,
  parseDateTime,
  Shared,
  type SharedKind,
  type Value,
  XmlNode,
} from '../values/index.ts';

/** What an argument of the type becomes; undefined when it does not fit. */
export type Accept = (v: Value) => unknown;

const local =
  (name: string): Accept =>
  (v) =>
    v instanceof LocalValue && v.typeName === name ? v : undefined;

const shared =
  (...kinds: SharedKind[]): Accept =>
  (v) =>
    v instanceof Shared && kinds.includes(v.kind) ? v : undefined;

/**
 * A String may be what stands for one (XML). Integers come as JavaScript numbers (those past 2^53 rounded: they are positions and counts), Reals as numbers, DateTimes widened from
 * ISO text and epoch ms; `Number` is an Integer, Real or Decimal as it is; `any` is anything but null. `Key` is a String, or an Integer as it is: rounded, keys beyond 2^53 would be one.
 */
const TYPES: Record<string, Accept> = {
  any: (v) => v,
  String: (v) => (typeof v === 'string' ? v : v instanceof LocalValue ? v.asString() : undefined),
  Integer: (v) => (isInteger(v) ? Number(v) : undefined),
  Key: (v) => (typeof v === 'string' || isInteger(v) ? v : v instanceof LocalValue ? v.asString() : undefined),
  Real: (v) => (isNumber(v) ? numberOf(v) : undefined),
  Number: (v) => (isNumber(v) || v instanceof Decimal ? v : undefined),
  Decimal: (v) => (v instanceof Decimal ? v : isNumber(v) ? (decimalOfNumber(v) ?? undefined) : undefined),
  Currency: (v) => (v instanceof Currency ? v : undefined),
  Boolean: (v) => (typeof v === 'boolean' ? v : undefined),
  DateTime: (v) => (v instanceof DateTime ? v : widenToDateTime(v)),
  List: (v) => (Array.isArray(v) ? v : undefined),
  Object: (v) => (isObject(v) ? v : undefined),
  Function: (v) => (typeof v === 'function' ? v : undefined),
  RegExp: local('RegExp'),
  Matcher: local('Matcher'),
  Binary: local('Binary'),
  Sequence: local('Sequence'),
  Map: shared('Map', 'Cache'),
  Cache: shared('Cache'),
  Value: shared('Value'),
  Lock: shared('Lock'),
  Xml: (v) => (v instanceof XmlNode ? v : undefined),
};

function widenToDateTime(v: Value): DateTime | undefined {
  if (typeof v === 'string') return parseDateTime(v) ?? undefined;
  return isInteger(v) ? (dateTimeOf(Number(v)) ?? undefined) : undefined;
}

/** One function for a parameter's types: the argument in the form of the first that takes it; undefined when none does. */
export function acceptor(types: readonly string[]): Accept {
  const [first, second, ...others] = types.filter((type) => type !== 'null').map(typeNamed);
  if (!first) throw new Error('a parameter has a type');
  if (!second) return first;
  const rest = [second, ...others];
  return (v) => {
    let accepted = first(v);
    for (let i = 0; accepted === undefined && i < rest.length; i++) accepted = (rest[i] as Accept)(v);
    return accepted;
  };
}

/** The types of values that a type stands for, as errors and documents name them. */
export const namedTypes = (type: string): readonly string[] => (type === 'Key' ? ['String', 'Integer'] : [type]);

/** Whether a value fits without widening: by it the declaration for a receiver is chosen. */
export function fitting(types: readonly string[]): (v: Value) => boolean {
  const exact = types.filter((type) => !['null', 'DateTime', 'Decimal', 'String'].includes(type));
  const accept = exact.length > 0 ? acceptor(exact) : undefined;
  const dates = types.includes('DateTime');
  const decimals = types.includes('Decimal');
  const strings = types.includes('String');
  return (v) =>
    (strings && typeof v === 'string') ||
    (dates && v instanceof DateTime) ||
    (decimals && v instanceof Decimal) ||
    accept?.(v) !== undefined;
}

/** Throws for a name that is no type: a mistake in our own source. */
function typeNamed(name: string): Accept {
  const found = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
  if (!found) throw new Error(`no such type: ${name}`);
  return found;
}
