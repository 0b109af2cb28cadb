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

type Refuse = (value: Value) => never;

/** An aggregate that is given its values one by one, in their order: it holds one of them at most, however many there are. */
export interface Accumulator {
  /** @throws cascade.query.aggregate.value, cascade.lang.arithmetic.overflow */
  add(value: Value): void;
  /** The aggregate over what was added. @throws cascade.query.aggregate.value */
  result(): Value;
  /** The value that it holds as it was given; null where it holds none. */
  readonly held: Value;
}

/** @param property only names the place in errors */
export function accumulator(name: AggregateName, property: string | null = null): Accumulator {
  return ACCUMULATORS[name]((value) => fail('cascade.query.aggregate.value', name, property ?? 'values', brief(value)));
}

/** The aggregate over values in their order. `property` only names the place in errors. */
export function aggregate(name: AggregateName, values: readonly Value[], property: string | null = null): Value {
  const all = accumulator(name, property);
  for (const value of values) all.add(value);
  return all.result();
}

const ACCUMULATORS: Readonly<Record<AggregateName, (refuse: Refuse) => Accumulator>> = {
  count: () => new Count(),
  sum: (refuse) => new Sum(refuse),
  avg: (refuse) => new Mean(refuse),
  min: (refuse) => new Extreme(-1, refuse),
  max: (refuse) => new Extreme(1, refuse),
  rise: (refuse) => new Rise(refuse),
  first: () => new First(),
  last: () => new Last(),
};

function brief(value: Value): string {
  return isObject(value) || Array.isArray(value) ? typeOf(value) : text(value);
}

class Count implements Accumulator {
  readonly held = null;
  #count = 0;

  add(value: Value): void {
    if (value !== null) this.#count++;
  }
  result(): Value {
    return this.#count;
  }
}

class First implements Accumulator {
  #first: Value | undefined;

  add(value: Value): void {
    if (this.#first === undefined) this.#first = value;
  }
  result(): Value {
    return this.held;
  }
  get held(): Value {
    return this.#first ?? null;
  }
}

class Last implements Accumulator {
  held: Value = null;

  add(value: Value): void {
    this.held = value;
  }
  result(): Value {
    return this.held;
  }
}

/** DateTimes by their epoch ms; all values of one kind: numbers, Decimals, or Currencies of one code. */
class Sum implements Accumulator {
  readonly held = null;
  readonly #refuse: Refuse;
  #kind: string | null = null;
  #total: Value = null;

  constructor(refuse: Refuse) {
    this.#refuse = refuse;
  }
  add(value: Value): void {
    const kind = kindOf(value);
    this.#kind ??= kind;
    if (kind === null || kind !== this.#kind) this.#refuse(value);
    const term = value instanceof DateTime ? value.ms : value;
    this.#total = this.#total === null ? term : add(this.#total, term);
  }
  result(): Value {
    return this.#total;
  }
}

/** What may be added up with what; null for what never may. */
function kindOf(value: Value): string | null {
  if (isNumber(value)) return 'Number';
  if (value instanceof Currency) return value.code;
  return value instanceof Decimal || value instanceof DateTime ? typeOf(value) : null;
}

class Mean implements Accumulator {
  readonly held = null;
  readonly #refuse: Refuse;
  readonly #decimals: Sum;
  #kind: string | null = null;
  #count = 0;
  /** Of numbers and DateTimes: the sum of Integers may be larger than an Integer. */
  #wide: bigint | number = 0n;

  constructor(refuse: Refuse) {
    this.#refuse = refuse;
    this.#decimals = new Sum(refuse);
  }
  add(value: Value): void {
    const kind = kindOf(value);
    this.#kind ??= kind;
    if (kind === null || kind !== this.#kind || value instanceof Currency) this.#refuse(value);
    this.#count++;
    if (value instanceof Decimal) return this.#decimals.add(value);
    const term = value instanceof DateTime ? value.ms : value;
    if (typeof this.#wide === 'bigint' && isInteger(term)) this.#wide += BigInt(term);
    else this.#wide = Number(this.#wide) + numberOf(term);
  }
  result(): Value {
    const total = this.#decimals.result();
    if (total instanceof Decimal) {
      const scale = total.scale + 4;
      return divideDecimals(rescale(total, scale), new Decimal(BigInt(this.#count), 0), scale);
    }
    if (this.#count === 0) return null;
    if (typeof this.#wide === 'bigint' && this.#kind !== 'Number')
      return new DateTime(Number(floorDivide(this.#wide, BigInt(this.#count))));
    return real(Number(this.#wide) / this.#count);
  }
}

function floorDivide(n: bigint, d: bigint): bigint {
  return n % d < 0n ? n / d - 1n : n / d;
}

/** The last minus the first. */
class Rise implements Accumulator {
  readonly held = null;
  readonly #refuse: Refuse;
  #first: Value = null;
  #last: Value = null;

  constructor(refuse: Refuse) {
    this.#refuse = refuse;
  }
  add(value: Value): void {
    if (!isNumber(value) && !(value instanceof DateTime)) this.#refuse(value);
    this.#first ??= value;
    this.#last = value;
  }
  result(): Value {
    if (this.#first === null) return null;
    if (isNumber(this.#first) !== isNumber(this.#last)) this.#refuse(this.#last);
    return sub(this.#last, this.#first);
  }
}

/** The least (`sign` -1) or greatest value; nulls are skipped. */
class Extreme implements Accumulator {
  held: Value = null;
  readonly #sign: number;
  readonly #refuse: Refuse;

  constructor(sign: number, refuse: Refuse) {
    this.#sign = sign;
    this.#refuse = refuse;
  }
  add(value: Value): void {
    if (value === null) return;
    if (this.held === null && kindOf(value) === null && typeof value !== 'string') this.#refuse(value);
    if (this.held === null || Math.sign(order(value, this.held, this.#refuse)) === this.#sign) this.held = value;
  }
  result(): Value {
    return this.held;
  }
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
