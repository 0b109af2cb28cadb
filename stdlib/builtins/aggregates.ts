// Aggregates as functions over a List, and the steps that SELECT uses for its groups (builtins.md 16).
import { fail } from '../errors.ts';
import { add, sub } from '../operators/index.ts';
import {
  compareCodeUnits,
  compareDecimals,
  Currency,
  DateTime,
  Decimal,
  divideDecimals,
  getOwn,
  isInteger,
  isNumber,
  isObject,
  numberOf,
  real,
  rescale,
  text,
  typeOf,
  type Value,
} from '../values/index.ts';
import type { Declaration } from './declaration.ts';

export type AggregateName = 'count' | 'sum' | 'avg' | 'min' | 'max' | 'rise' | 'first' | 'last';

/** The aggregate over values in their order. `property` only names the place in errors. */
export function aggregate(name: AggregateName, values: readonly Value[], property: string | null = null): Value {
  const refuse = (value: Value): never => fail('cascade.query.aggregate.value', name, property ?? 'values', brief(value));
  if (name === 'count') return values.filter((value) => value !== null).length;
  if (name === 'first') return values[0] ?? null;
  if (name === 'last') return values.at(-1) ?? null;
  if (name === 'min' || name === 'max') return extreme(values, name === 'min' ? -1 : 1, refuse);
  if (values.length === 0) return null;
  if (name === 'sum') return sum(values, refuse);
  return name === 'avg' ? average(values, refuse) : rise(values, refuse);
}

type Refuse = (value: Value) => never;

function brief(value: Value): string {
  return isObject(value) || Array.isArray(value) ? typeOf(value) : text(value);
}

/** DateTimes by their epoch ms; all values of one kind: numbers, Decimals, or Currencies of one code. */
function sum(values: readonly Value[], refuse: Refuse): Value {
  const [first = null] = values;
  let total: Value = null;
  for (const value of values) {
    if (kindOf(value) === null || kindOf(value) !== kindOf(first)) refuse(value);
    const term = value instanceof DateTime ? value.ms : value;
    total = total === null ? term : add(total, term);
  }
  return total;
}

/** What may be added up with what; null for what never may. */
function kindOf(value: Value): string | null {
  if (isNumber(value)) return 'Number';
  if (value instanceof Currency) return value.code;
  return value instanceof Decimal || value instanceof DateTime ? typeOf(value) : null;
}

function average(values: readonly Value[], refuse: Refuse): Value {
  const [first = null] = values;
  if (first instanceof Currency) refuse(first);
  if (first instanceof Decimal) {
    const total = sum(values, refuse) as Decimal;
    const scale = total.scale + 4;
    return divideDecimals(rescale(total, scale), new Decimal(BigInt(values.length), 0), scale);
  }
  const total = wideSum(values, refuse);
  if (typeof total === 'bigint' && first instanceof DateTime) return new DateTime(Number(floorDivide(total, BigInt(values.length))));
  return real(Number(total) / values.length);
}

/** The sum of numbers, or of DateTimes, on the way to their mean: that of Integers may be larger than an Integer. */
function wideSum(values: readonly Value[], refuse: Refuse): bigint | number {
  const [first = null] = values;
  let total: bigint | number = 0n;
  for (const value of values) {
    if (kindOf(value) === null || kindOf(value) !== kindOf(first)) refuse(value);
    const term = value instanceof DateTime ? value.ms : value;
    if (typeof total === 'bigint' && isInteger(term)) total += BigInt(term);
    else total = Number(total) + numberOf(term);
  }
  return total;
}

function floorDivide(n: bigint, d: bigint): bigint {
  return n % d < 0n ? n / d - 1n : n / d;
}

/** The last minus the first. */
function rise(values: readonly Value[], refuse: Refuse): Value {
  for (const value of values) if (!isNumber(value) && !(value instanceof DateTime)) refuse(value);
  const first = values[0] as Value;
  const last = values.at(-1) as Value;
  if (isNumber(first) !== isNumber(last)) refuse(last);
  return sub(last, first);
}

/** The least (`sign` -1) or greatest value; nulls are skipped. */
function extreme(values: readonly Value[], sign: number, refuse: Refuse): Value {
  let best: Value = null;
  for (const value of values) {
    if (value === null) continue;
    if (best === null && kindOf(value) === null && typeof value !== 'string') refuse(value);
    if (best === null || Math.sign(order(value, best, refuse)) === sign) best = value;
  }
  return best;
}

function order(a: Value, b: Value, refuse: Refuse): number {
  if (isNumber(a) && isNumber(b)) {
    const left = isInteger(a) ? a : numberOf(a);
    const right = isInteger(b) ? b : numberOf(b);
    return left < right ? -1 : left > right ? 1 : 0;
  }
  if (typeof a === 'string' && typeof b === 'string') return compareCodeUnits(a, b);
  if (a instanceof DateTime && b instanceof DateTime) return a.ms - b.ms;
  if (a instanceof Decimal && b instanceof Decimal) return compareDecimals(a, b);
  if (a instanceof Currency && b instanceof Currency && a.code === b.code) return compareDecimals(a.amount, b.amount);
  return refuse(a);
}

/** The elements, or what the Objects among them hold at `property`, which may be a path `a.b`. */
function valuesAt(list: readonly Value[], property: string | null): Value[] {
  if (property === null) return [...list];
  return list.map((element) => {
    let value: Value = element;
    for (const step of property.split('.')) value = isObject(value) ? getOwn(value, step) : null;
    return value;
  });
}

const ABOUT: Record<AggregateName, string> = {
  count: 'How many values are not null.',
  sum: 'The sum; null for none.',
  avg: 'The mean; null for none.',
  min: 'The least; null for none.',
  max: 'The greatest; null for none.',
  rise: 'The last minus the first.',
  first: 'The first value.',
  last: 'The last value.',
};

export const aggregates: readonly Declaration[] = Object.entries(ABOUT).map(([name, about]) => ({
  call: `${name}(values: List|Sequence, property?: String) => any`,
  forms: 'FM',
  about,
  errors: ['cascade.query.aggregate.value', 'cascade.lang.arithmetic.overflow'],
  turns: (list: Value[], property: string | null) => (name === 'count' && property === null ? 0 : list.length * 4),
  run: (_, list: Value[], property: string | null) => {
    if (name === 'count' && property === null) return list.length;
    return aggregate(name as AggregateName, valuesAt(list, property), property);
  },
}));
