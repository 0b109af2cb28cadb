// Rankings of recommendation candidates (builtins.md 27), as pure functions. Callers read candidates and check rights.
import { deepEquals } from '../../stdlib/operators/index.ts';
import {
  Currency,
  DateTime,
  Decimal,
  getOwn,
  isNumber,
  isObject,
  numberOf,
  type ObjectValue,
  real,
  setOwn,
  type Value,
} from '../../stdlib/values/index.ts';

export interface Directives {
  readonly most: number;
  readonly excluded: ReadonlySet<string>;
  /** Metres, inclusive; null: no bound. */
  readonly maxDistance: number | null;
}
/** The distance between two Points in metres. */
export type Metres = (a: ObjectValue, b: ObjectValue) => number;

export interface Ranked {
  readonly candidate: ObjectValue;
  /** Smaller is better. */
  readonly distance: number;
  readonly added: ObjectValue;
}

/** Ranks by the mean distance of the properties, each between 0 and 1. Both sides hold values of the declared types. */
export function byLikeness(pattern: ObjectValue, candidates: readonly ObjectValue[], names: readonly string[], metres: Metres): Ranked[] {
  if (names.length === 0) return [];
  const columns = names.map((name) =>
    column(
      getOwn(pattern, name),
      candidates.map((one) => getOwn(one, name)),
      metres,
    ),
  );
  return candidates.map((candidate, row) => {
    const distances = columns.map((values) => values[row] ?? 1);
    const distance = rounded(distances.reduce((sum, one) => sum + one, 0) / distances.length);
    const reason = names.map((name, i) => `${name} ${percent(1 - (distances[i] ?? 1))}`).join(', ');
    return { candidate, distance, added: { ars_relevance: real(rounded(1 - distance)), ars_reason: `Alike: ${reason}` } };
  });
}

/** The distances between the candidates' values and the pattern's. */
function column(wanted: Value, values: readonly Value[], metres: Metres): number[] {
  const measured = values.map((value) => measure(wanted, value, metres));
  const numbers = measured.filter((one): one is number => typeof one === 'number');
  // Numbers are scaled by the range of all values, the pattern's included; places by the largest distance.
  const place = isPoint(wanted) ? null : position(wanted);
  const range =
    place === null
      ? [0, ...numbers]
      : [
          place,
          ...values
            .filter((value) => haveOneCurrency(wanted, value))
            .map(position)
            .filter((one) => one !== null),
        ];
  const spread = range.reduce((m, n) => Math.max(m, n)) - range.reduce((m, n) => Math.min(m, n));
  return measured.map((one) => (one === 'same' ? 0 : one === 'other' ? 1 : spread === 0 ? 0 : one / spread));
}

function measure(wanted: Value, value: Value, metres: Metres): number | 'same' | 'other' {
  if (value === null) return 'other';
  if (isPoint(wanted) && isPoint(value)) return metres(wanted, value);
  const a = position(wanted);
  const b = position(value);
  if (a !== null && b !== null && haveOneCurrency(wanted, value)) return Math.abs(a - b);
  return deepEquals(wanted, value) ? 'same' : 'other';
}

/** A number that orders values of one kind; null for kinds without order. */
function position(value: Value): number | null {
  if (isNumber(value)) return numberOf(value);
  if (value instanceof DateTime) return value.ms;
  if (value instanceof Decimal) return Number(value.toString());
  return value instanceof Currency ? Number(value.amount.toString()) : null;
}

/** Amounts of two currencies have no difference. */
const haveOneCurrency = (a: Value, b: Value): boolean => !(a instanceof Currency && b instanceof Currency) || a.code === b.code;

export const isPoint = (value: Value): value is ObjectValue => isObject(value) && getOwn(value, 'type') === 'Point';

/** Ranks by the sum of distances between the places of both; candidates that lack a place, or are too far, are left out. */
export function byPlace(
  pattern: ObjectValue,
  candidates: readonly ObjectValue[],
  names: readonly string[],
  { maxDistance }: Directives,
  metres: Metres,
): Ranked[] {
  return candidates.flatMap((candidate) => {
    let distance = 0;
    for (const name of names) {
      const [from, to] = [getOwn(pattern, name), getOwn(candidate, name)];
      if (!isPoint(from) || !isPoint(to)) return [];
      distance += metres(from, to);
    }
    if (maxDistance !== null && distance > maxDistance) return [];
    const added = {
      ars_distance: real(distance),
      ars_relevance: real(1 / (1 + distance / 1000)),
      ars_reason: `${Math.round(distance)} m away`,
    };
    return [{ candidate, distance, added }];
  });
}

/** The best candidates, in their order; ties are ordered by `_id`. */
export function best(ranked: readonly Ranked[], { most }: Directives): Ranked[] {
  const id = ({ candidate }: Ranked): string => String(getOwn(candidate, '_id'));
  return [...ranked].sort((a, b) => a.distance - b.distance || (id(a) < id(b) ? -1 : 1)).slice(0, most);
}

/** An instance with its relevance. */
export function withAdded(instance: ObjectValue, added: ObjectValue): ObjectValue {
  const result: ObjectValue = {};
  for (const source of [instance, added]) for (const key of Object.keys(source)) setOwn(result, key, getOwn(source, key));
  return result;
}

/** Rounds away the error of floating-point sums: 0.2, not 0.19999999999999996. */
const rounded = (n: number): number => Math.round(n * 1e12) / 1e12;
const percent = (share: number): string => `${Math.round(share * 100)} %`;
