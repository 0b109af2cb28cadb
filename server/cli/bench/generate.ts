// Generates instances of a type, the same for the same seed. A property that declares `enum`, or `minimum` and `maximum`, has such values;
// otherwise half of the values are near constants that rules compare the property with, so that conditions are met and missed, and the
// others are from a small range.
import { UsageError } from '../terminal.ts';
import type { BenchEvent } from './events.ts';

type Property = {
  type?: unknown;
  multi?: unknown;
  array?: unknown;
  unique?: unknown;
  maxLength?: unknown;
  enum?: unknown;
  minimum?: unknown;
  maximum?: unknown;
};
type Make = (random: () => number) => unknown;

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 0, 1);
const NUMBERS = new Set(['Integer', 'Real', 'Decimal', 'Currency']);
const WORDS = ['north', 'south', 'east', 'west', 'open', 'closed', 'red', 'green', 'blue', 'one', 'two', 'three'];
const int = (random: () => number, below: number): number => Math.floor(random() * below);

const MADE: Readonly<Record<string, Make>> = {
  String: (random) => WORDS[int(random, WORDS.length)],
  Integer: (random) => int(random, 1_000),
  Real: (random) => int(random, 100_000) / 100,
  Decimal: (random) => (int(random, 100_000) / 100).toFixed(2),
  Currency: (random) => (int(random, 100_000) / 100).toFixed(2),
  Boolean: (random) => random() < 0.5,
  DateTime: (random) => new Date(START_MS + int(random, 365) * DAY_MS).toISOString(),
  GeoJSON: (random) => ({ type: 'Point', coordinates: [int(random, 360) - 180, int(random, 180) - 90] }),
  Object: (random) => ({ n: int(random, 1_000) }),
};

/**
 * @param types the project's definitions, as JSON
 * @param texts of rules, whose constants are used
 * @returns the n-th event; each call makes a new one, and unique values depend on n
 * @throws UsageError when there is no such type, or one of its properties cannot be generated
 */
export function generator(typeName: string, types: readonly unknown[], texts: readonly string[], seed: number): (n: number) => BenchEvent {
  const known = types as readonly { name?: unknown; properties?: Record<string, Property>; naturalKey?: readonly string[] | null }[];
  const type = known.find(({ name }) => name === typeName);
  if (!type) {
    const names = known.map(({ name }) => String(name)).sort();
    throw new UsageError(`The project has no type ${typeName}${names.length > 0 ? `; it has ${names.join(', ')}` : ''}.`);
  }
  const random = randomOf(seed);
  const unique = new Set(type.naturalKey ?? []);
  const makers = Object.entries(type.properties ?? {}).map(([name, property]): [string, (n: number) => unknown] => {
    const kind = String(property.type);
    const make = MADE[kind];
    if (!make) throw new UsageError(`Values of ${typeName}.${name} cannot be made up: its type is ${kind}. Give --events FILE.`);
    if (unique.has(name) || property.unique === true) return [name, (n) => uniqueValue(kind, n, `${typeName}.${name}`)];
    const declared = declaredOf(property, kind, `${typeName}.${name}`);
    const constants = declared ? [] : constantsOf(name, kind, texts);
    const value = (): unknown =>
      declared ? declared(random) : constants.length > 0 && random() < 0.5 ? near(constants, kind, random) : make(random);
    return [name, property.multi === true || property.array === true ? () => [value()] : () => cut(value(), property.maxLength)];
  });
  return (n) => ({ on: { type: typeName }, value: Object.fromEntries(makers.map(([name, make]) => [name, make(n)])) });
}

/** The values that the property itself declares; null: none. @throws UsageError when the declaration does not fit its type */
function declaredOf(property: Property, kind: string, place: string): Make | null {
  const { enum: values, minimum, maximum } = property;
  if (Array.isArray(values) && values.length > 0) return (random) => values[int(random, values.length)];
  if (minimum === undefined && maximum === undefined) return null;
  if (!NUMBERS.has(kind)) return null;
  const least = Number(minimum ?? Math.min(0, Number(maximum)));
  const most = Number(maximum ?? Math.max(1_000, 2 * least));
  if (!(least <= most)) throw new UsageError(`Values of ${place} cannot be made up: its minimum is above its maximum.`);
  if (kind === 'Integer') return (random) => Math.ceil(least) + int(random, Math.floor(most) - Math.ceil(least) + 1);
  return (random) => {
    const value = least + random() * (most - least);
    return kind === 'Real' ? value : value.toFixed(2);
  };
}

const cut = (value: unknown, most: unknown): unknown =>
  typeof value === 'string' && typeof most === 'number' ? value.slice(0, most) : value;

function uniqueValue(kind: string, n: number, place: string): unknown {
  if (kind === 'Integer') return n;
  if (kind === 'String') return `k${n}`;
  throw new UsageError(`Values of ${place} cannot be made up: they have to differ, and are of type ${kind}. Give --events FILE.`);
}

function constantsOf(name: string, kind: string, texts: readonly string[]): (string | number)[] {
  const isText = kind === 'String';
  const pattern = new RegExp(`\\b${name}\\s*(?:[=!<>]=|[<>])\\s*(${isText ? '"[^"\\\\\\n]{0,200}"' : '-?\\d{1,15}(?:\\.\\d{1,9})?'})`, 'g');
  const found = texts.flatMap((text) => [...text.matchAll(pattern)].map(([, literal = '']) => literal));
  return [...new Set(found)].map((literal) => (isText ? literal.slice(1, -1) : Number(literal)));
}

function near(constants: readonly (string | number)[], kind: string, random: () => number): unknown {
  const constant = constants[int(random, constants.length)];
  if (typeof constant !== 'number') return constant;
  const moved = constant + int(random, 3) - 1;
  return kind === 'Integer'
    ? Math.round(moved)
    : kind === 'Real'
      ? moved
      : kind === 'DateTime'
        ? new Date(moved).toISOString()
        : moved.toFixed(2);
}

/** Numbers from 0 to below 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
