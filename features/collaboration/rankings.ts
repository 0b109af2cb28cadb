// Rankings of recommendation candidates (builtins.md 27), as pure functions that work in pieces. Callers read candidates and check rights.
import { deepEquals } from '../../stdlib/operators/index.ts';
import {
  Currency,
  DateTime,
  Decimal,
  getOwn,
  isNumber,
  numberOf,
  type ObjectValue,
  real,
  setOwn,
  type Value,
} from '../../stdlib/values/index.ts';
import { isPoint } from './places.ts';

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

/** Work in pieces: it yields where others may have the thread. */
type Pieces<T> = Generator<undefined, T>;
/** Comparisons of a piece: less than a millisecond. */
const PIECE = 256;

/** Whether to yield after so many comparisons more. */
class Pace {
  #done = 0;

  isOver(comparisons: number): boolean {
    this.#done += comparisons;
    if (this.#done < PIECE) return false;
    this.#done = 0;
    return true;
  }
}

/** Ranks by the mean distance of the properties, each between 0 and 1. Both sides hold values of the declared types. */
export function* byLikeness(
  pattern: ObjectValue,
  candidates: readonly ObjectValue[],
  names: readonly string[],
  metres: Metres,
): Pieces<Ranked[]> {
  if (names.length === 0) return [];
  const columns: number[][] = [];
  for (const name of names) columns.push(yield* column(pattern, candidates, name, metres));
  const ranked: Ranked[] = [];
  const pace = new Pace();
  for (const [row, candidate] of candidates.entries()) {
    const distances = columns.map((values) => values[row] ?? 1);
    const distance = rounded(distances.reduce((sum, one) => sum + one, 0) / distances.length);
    const reason = names.map((name, i) => `${name} ${percent(1 - (distances[i] ?? 1))}`).join(', ');
    ranked.push({ candidate, distance, added: { ars_relevance: real(rounded(1 - distance)), ars_reason: `Alike: ${reason}` } });
    if (pace.isOver(names.length)) yield;
  }
  return ranked;
}

/** The distances between the candidates' values of a property and the pattern's. */
function* column(pattern: ObjectValue, candidates: readonly ObjectValue[], name: string, metres: Metres): Pieces<number[]> {
  const wanted = getOwn(pattern, name);
  // Numbers are scaled by the range of all values, the pattern's included; places by the largest distance.
  const place = isPoint(wanted) ? null : position(wanted);
  const measured: (number | 'same' | 'other')[] = [];
  let [least, greatest] = place === null ? [0, 0] : [place, place];
  const pace = new Pace();
  for (const candidate of candidates) {
    const value = getOwn(candidate, name);
    const one = measure(wanted, value, metres);
    measured.push(one);
    const reach = place === null ? (typeof one === 'number' ? one : null) : haveOneCurrency(wanted, value) ? position(value) : null;
    if (reach !== null) [least, greatest] = [Math.min(least, reach), Math.max(greatest, reach)];
    if (pace.isOver(1)) yield;
  }
  const spread = greatest - least;
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

/** Ranks by the sum of distances between the places of both; candidates that lack a place, or are too far, are left out. */
export function* byPlace(
  pattern: ObjectValue,
  candidates: readonly ObjectValue[],
  names: readonly string[],
  { maxDistance }: Directives,
  metres: Metres,
): Pieces<Ranked[]> {
  const ranked: Ranked[] = [];
  const pace = new Pace();
  for (const candidate of candidates) {
    if (pace.isOver(names.length)) yield;
    const distance = distanceTo(pattern, candidate, names, metres);
    if (distance === null || (maxDistance !== null && distance > maxDistance)) continue;
    const added = {
      ars_distance: real(distance),
      ars_relevance: real(1 / (1 + distance / 1000)),
      ars_reason: `${Math.round(distance)} m away`,
    };
    ranked.push({ candidate, distance, added });
  }
  return ranked;
}

/** Null where one of the places is missing. */
function distanceTo(pattern: ObjectValue, candidate: ObjectValue, names: readonly string[], metres: Metres): number | null {
  let distance = 0;
  for (const name of names) {
    const [from, to] = [getOwn(pattern, name), getOwn(candidate, name)];
    if (!isPoint(from) || !isPoint(to)) return null;
    distance += metres(from, to);
  }
  return distance;
}

/** The best candidates, in their order; ties are ordered by `_id`. */
export function* best(ranked: readonly Ranked[], { most }: Directives): Pieces<Ranked[]> {
  let sorted: Ranked[][] = [];
  for (let at = 0; at < ranked.length; at += PIECE) {
    sorted.push(
      ranked
        .slice(at, at + PIECE)
        .sort(inOrder)
        .slice(0, most),
    );
    yield;
  }
  while (sorted.length > 1) {
    const merged: Ranked[][] = [];
    for (let i = 0; i < sorted.length; i += 2) merged.push(yield* merge(sorted[i] ?? [], sorted[i + 1] ?? [], most));
    sorted = merged;
  }
  return sorted[0] ?? [];
}

function* merge(one: readonly Ranked[], other: readonly Ranked[], most: number): Pieces<Ranked[]> {
  const merged: Ranked[] = [];
  const pace = new Pace();
  for (let i = 0, k = 0; merged.length < most; ) {
    const [a, b] = [one[i], other[k]];
    const next = a && b ? (inOrder(a, b) <= 0 ? a : b) : (a ?? b);
    if (!next) break;
    if (next === a) i++;
    else k++;
    merged.push(next);
    if (pace.isOver(1)) yield;
  }
  return merged;
}

function inOrder(a: Ranked, b: Ranked): number {
  const id = ({ candidate }: Ranked): string => String(getOwn(candidate, '_id'));
  return a.distance - b.distance || (id(a) < id(b) ? -1 : 1);
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
