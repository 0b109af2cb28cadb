// Random instances of one type with a property of each kind, and random conditions on them: as they are sent, and what they mean.
import { type Json, JsonNumber, type JsonObject } from '../client/index.ts';
import { Amount, Instant, type Plain, type Plan, type Question, Reference } from './plain-filter.ts';

/** The same numbers for the same seed (mulberry32). */
export class Dice {
  #state: number;
  constructor(seed: number) {
    this.#state = seed;
  }
  /** From 0 to one below. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * limit);
  }
  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
  some<T>(most: number, one: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, one);
  }
}

/** A value as it is stored and in the ways in which it may be written. */
interface Operand {
  readonly plain: Plain;
  readonly texts: readonly Json[];
}

const number = (text: string): JsonNumber => new JsonNumber(text);
/** In millionths; up to six digits behind the point. */
const millionths = (text: string): bigint => {
  const [whole = '', digits = ''] = text.replace('-', '').split('.');
  const size = BigInt(whole + digits.padEnd(6, '0'));
  return text.startsWith('-') ? -size : size;
};
const operand = (plain: Plain, ...texts: Json[]): Operand => ({ plain, texts });
const integer = (text: string): Operand => operand(millionths(text), number(text), text);
const real = (text: string): Operand => operand(millionths(text), number(text), text);
const decimal = (text: string): Operand => operand(millionths(text), text, number(text));
const amount = (code: string, value: string): Operand => operand(new Amount(code, millionths(value)), `${code}:${value}`);
const instant = (ms: number, ...texts: string[]): Operand =>
  operand(new Instant(ms), number(String(ms)), new Date(ms).toISOString(), ...texts);
const reference = (resource: string, id: string): Operand =>
  operand(new Reference(resource, id), `/${resource}/${id}`, { resource, resourceId: id });
const json = (value: Json): Operand => operand(plainOf(value), value);

function plainOf(value: Json): Plain {
  if (value instanceof JsonNumber) return millionths(value.text);
  if (Array.isArray(value)) return value.map(plainOf);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plainOf(one)]));
}

interface Kind {
  readonly definition: JsonObject;
  readonly values: readonly Operand[];
  /** Constants beyond the values. */
  readonly constants?: readonly Operand[];
  /** Constants of ranges only. */
  readonly bounds?: readonly Operand[];
  readonly unordered?: true;
  /** Equality and lists of it only. */
  readonly atomic?: true;
  readonly multi?: true;
  readonly patterns?: true;
}

const STRINGS = ['', 'a', 'A', 'ab', 'ba', 'b', 'é', '\ufffd', '😀', '5', 'true', 'line\nbreak'].map((text) => operand(text, text));
const LETTERS = ['a', 'b', 'c', 'ab'].map((text) => operand(text, text));
const OBJECTS: readonly Json[] = [
  {},
  { k: number('1') },
  { k: number('1'), l: 'x' },
  { l: 'x', k: number('1') },
  { k: 'x' },
  { k: null },
  { k: true },
  { k: [number('1'), number('2')] },
  { k: ['x', 'y'], n: { m: number('2.5') } },
  { n: { m: 'deep' } },
  { n: { m: number('9007199254740993') } },
];

export const KINDS: Readonly<Record<string, Kind>> = {
  s: { definition: { type: 'String' }, values: STRINGS, constants: [operand('5', number('5')), operand('true', true)], patterns: true },
  i: {
    definition: { type: 'Integer' },
    values: ['-1', '0', '1', '2', '3', '9007199254740992', '9007199254740993', '9223372036854775807'].map(integer),
    bounds: ['1.5', '-0.5', '2.25'].map((text) => operand(millionths(text), number(text))),
  },
  r: { definition: { type: 'Real' }, values: ['-1.5', '0', '0.5', '1', '2', '2.5', '3'].map(real) },
  d: {
    definition: { type: 'Decimal', scale: number('2') },
    values: ['-1.50', '0.00', '0.50', '1.50', '2.00', '10.00'].map(decimal),
    constants: [decimal('2'), decimal('1.5')],
  },
  c: {
    definition: { type: 'Currency' },
    values: [amount('USD', '1'), amount('USD', '5'), amount('EUR', '5'), amount('EUR', '10'), amount('JPY', '-1')],
    constants: ['5', '1', '-1', '7.5'].map((value) => operand(new Amount(null, millionths(value)), value, number(value))),
  },
  b: { definition: { type: 'Boolean' }, values: [operand(true, true, 'true', number('1')), operand(false, false, 'false', number('0'))] },
  w: {
    definition: { type: 'DateTime' },
    values: [instant(0, '1970-01-01'), instant(-1), instant(1_900_000_000_000, '2030-03-17T18:46:40+01:00'), instant(1_900_000_000_001)],
  },
  ref: {
    definition: { type: 'ResourceReference' },
    values: [reference('types', 'Pump'), reference('topics', '/plant/7'), reference('users', 'ann')],
    unordered: true,
    atomic: true,
  },
  o: { definition: { type: 'Object' }, values: OBJECTS.map(json), unordered: true },
  t: { definition: { type: 'String', multi: true }, values: LETTERS, multi: true, patterns: true },
  m: { definition: { type: 'Integer', multi: true }, values: ['1', '2', '3'].map(integer), multi: true },
};

const NAMES = Object.keys(KINDS);
export const SORTED = ['s', 'i', 'r', 'b', 'w'] as const;

export interface Instance {
  readonly body: JsonObject;
  readonly row: Record<string, Plain>;
}

export function randomInstance(dice: Dice, n: number): Instance {
  const body: JsonObject = { n: number(String(n)) };
  const row: Record<string, Plain> = {};
  for (const name of NAMES) {
    const { values, multi } = KINDS[name] as Kind;
    const luck = dice.below(8);
    if (luck === 0) continue; // never set
    const value =
      luck === 1
        ? operand(null, null)
        : multi
          ? list(
              dice.some(3, () => dice.of(values)),
              dice,
            )
          : dice.of(values);
    body[name] = dice.of(value.texts);
    row[name] = value.plain;
  }
  return { body, row };
}

const list = (values: readonly Operand[], dice: Dice): Operand =>
  operand(
    values.map(({ plain }) => plain),
    values.map(({ texts }) => dice.of(texts)),
  );

export function randomQuestion(dice: Dice, depth = 3): Question {
  const members = Array.from({ length: 1 + (dice.below(4) === 0 ? 1 : 0) }, () =>
    depth > 0 && dice.below(3) === 0 ? combined(dice, depth) : onProperty(dice),
  );
  const where: JsonObject = {};
  const all: Plan[] = [];
  for (const { name, value, plan } of members) {
    if (Object.hasOwn(where, name)) continue;
    where[name] = value;
    all.push(plan);
  }
  return { where, plan: { all } };
}

interface Member {
  readonly name: string;
  readonly value: Json;
  readonly plan: Plan;
}

function combined(dice: Dice, depth: number): Member {
  const parts = Array.from({ length: 1 + dice.below(3) }, () => randomQuestion(dice, depth - 1));
  const name = dice.of(['$and', '$or', '$nor']);
  const plans = parts.map(({ plan }) => plan);
  const plan: Plan = name === '$and' ? { all: plans } : name === '$or' ? { any: plans } : { none: plans };
  return { name, value: parts.map(({ where }) => where), plan };
}

/** Where a condition looks, and what it may say there. */
interface Place {
  readonly path: string;
  readonly kind: Kind;
}

const SUB_PATHS: readonly Place[] = [
  {
    path: 'ref.resource',
    kind: { definition: {}, values: ['types', 'topics', 'users', 'x'].map((text) => operand(text, text)), patterns: true },
  },
  {
    path: 'ref.resourceId',
    kind: { definition: {}, values: ['Pump', '/plant/7', 'x'].map((text) => operand(text, text)), patterns: true },
  },
  { path: 'o.k', kind: { definition: {}, values: [number('1'), number('2'), 'x', true, [number('1'), number('2')]].map(json) } },
  { path: 'o.n.m', kind: { definition: {}, values: [number('2.5'), number('9007199254740993'), 'deep'].map(json) } },
  { path: 'o.none', kind: { definition: {}, values: [number('1'), 'x'].map(json) } },
  { path: 'none', kind: { definition: {}, values: [number('1'), 'x'].map(json) } },
  { path: 't.0', kind: { definition: {}, values: LETTERS, patterns: true } },
];

function onProperty(dice: Dice): Member {
  const isSub = dice.below(5) === 0;
  const name = dice.of(NAMES);
  const { path, kind }: Place = isSub ? dice.of(SUB_PATHS) : { path: name, kind: KINDS[name] as Kind };
  const steps = path.split('.');
  if (dice.below(3) === 0) {
    const { plain, texts } = dice.below(5) === 0 ? operand(null, null) : equalTo(dice, kind);
    return { name: path, value: dice.of(texts), plan: { path: steps, operator: '$eq', operand: plain } };
  }
  const { value, plans } = operators(dice, kind, steps);
  return { name: path, value, plan: { all: plans } };
}

/** A list has no place in an order. */
const withoutLists = (kind: Kind): Kind => ({ ...kind, values: kind.values.filter(({ plain }) => !Array.isArray(plain)) });

const constantOf = (dice: Dice, { values, constants = [] }: Kind): Operand => dice.of([...values, ...constants]);
/** The constant of an equality: of a property with many values also a whole list. */
const equalTo = (dice: Dice, kind: Kind): Operand =>
  kind.multi && dice.below(2) === 0
    ? list(
        dice.some(2, () => dice.of(kind.values)),
        dice,
      )
    : constantOf(dice, kind);

function operators(dice: Dice, kind: Kind, path: string[], inner = false): { value: JsonObject; plans: Plan[] } {
  const value: JsonObject = {};
  const plans: Plan[] = [];
  for (let left = 1 + (dice.below(4) === 0 ? 1 : 0); left > 0; left--) {
    const { name, value: operand, plan, options } = operatorOf(dice, kind, path, inner);
    if (Object.hasOwn(value, name)) continue;
    value[name] = operand;
    if (options !== undefined) value['$options'] = options;
    plans.push(plan);
  }
  return { value, plans };
}

const RANGES = ['$gt', '$gte', '$lt', '$lte'];
const PATTERNS = ['a', '^a', 'b$', '^.$', '[ab]+', '^$', 'é', '^(a|b)+$'];

function operatorOf(dice: Dice, kind: Kind, path: string[], inner: boolean): Member & { options?: string } {
  const names = ['$eq', '$ne', '$in', '$nin'];
  if (!kind.unordered) names.push(...RANGES);
  if (!inner) names.push('$exists', '$not', ...(kind.atomic ? [] : ['$all']), ...(kind.multi ? ['$size', '$elemMatch'] : []));
  if (kind.patterns) names.push('$regex');
  const name = dice.of(names);
  switch (name) {
    case '$in':
    case '$nin':
    case '$all': {
      const several = list(
        dice.some(3, () => (!inner && name !== '$all' && dice.below(6) === 0 ? operand(null, null) : constantOf(dice, kind))),
        dice,
      );
      return { name, value: several.texts[0] as Json, plan: { path, operator: name, operand: several.plain } };
    }
    case '$exists': {
      const is = dice.below(2) === 0;
      return { name, value: is, plan: { path, operator: name, operand: is } };
    }
    case '$size': {
      const size = number(String(dice.below(4)));
      return { name, value: size, plan: { path, operator: name, operand: millionths(size.text) } };
    }
    case '$not': {
      const { value, plans } = operators(dice, kind, path, true);
      return { name, value, plan: { path, not: plans } };
    }
    case '$elemMatch': {
      const { value, plans } = operators(dice, kind, [], true);
      return { name, value, plan: { path, element: plans } };
    }
    case '$regex': {
      const source = dice.of(PATTERNS);
      const ignoring = dice.below(2) === 0;
      return { name, value: source, plan: { path, pattern: new RegExp(source, ignoring ? 'iu' : 'u') }, ...(ignoring && { options: 'i' }) };
    }
    default: {
      const range = RANGES.includes(name);
      const { plain, texts } =
        range && kind.bounds && dice.below(3) === 0 ? dice.of(kind.bounds) : constantOf(dice, range ? withoutLists(kind) : kind);
      return { name, value: dice.of(texts), plan: { path, operator: name, operand: plain } };
    }
  }
}
