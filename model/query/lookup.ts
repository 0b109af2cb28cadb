// Which of many values are among many others: by keys, so that not each is compared with each.
import type { Value } from '../../stdlib/values/index.ts';
import { hostBounds, withinBudget } from './host-budget.ts';

/** So few values, or comparisons, are compared one by one: keys, made anew each time, would cost more. */
const FEW_VALUES = 8;
const FEW_COMPARISONS = 256;
export const areFew = (found: number, sought: number): boolean => found <= FEW_VALUES || found * sought <= FEW_COMPARISONS;

/** How values are compared. Those with a key are equal only to those with the same key, or without one. */
interface Equality<K> {
  keyOf(value: Value): K | undefined;
  isEqual(value: Value, sought: Value): boolean;
}

/** A comparison of two values without keys, Objects mostly, in turns of a loop; one of such a value with one that has a key takes one. */
const COMPARISON = 4;

export class Lookup<K> {
  readonly #values: readonly Value[];
  readonly #equality: Equality<K>;
  readonly #keyed = new Map<K, Value>();
  /** Further values with the key of one that is not the same. */
  readonly #more = new Map<K, Value[]>();
  readonly #others: Value[] = [];

  private constructor(values: readonly Value[], equality: Equality<K>) {
    this.#values = values;
    this.#equality = equality;
    hostBounds.spend(values.length);
    for (const value of values) {
      const key = equality.keyOf(value);
      const known = key === undefined ? undefined : this.#keyed.get(key);
      if (key === undefined) this.#others.push(value);
      else if (known === undefined) this.#keyed.set(key, value);
      else if (known !== value) this.#addTo(key, value);
    }
  }

  /** Asks for some of the values. @throws {BudgetExceeded} */
  static within<K>(values: readonly Value[], equality: Equality<K>, ask: (lookup: Lookup<K>) => boolean): boolean {
    return withinBudget({ builtin: null, operator: 'in', args: [] }, () => ask(new Lookup(values, equality)));
  }

  has(sought: Value): boolean {
    hostBounds.spend(1);
    const key = this.#equality.keyOf(sought);
    if (key === undefined) return this.#isAmong(this.#values, sought, COMPARISON);
    const known = this.#keyed.get(key);
    if (known !== undefined && this.#equality.isEqual(known, sought)) return true;
    return this.#isAmong(this.#more.get(key), sought) || this.#isAmong(this.#others, sought);
  }

  #addTo(key: K, value: Value): void {
    const more = this.#more.get(key);
    if (more) more.push(value);
    else this.#more.set(key, [value]);
  }

  #isAmong(values: readonly Value[] | undefined, sought: Value, comparison = 1): boolean {
    if (values === undefined || values.length === 0) return false;
    hostBounds.spend(comparison * values.length);
    return values.some((value) => this.#equality.isEqual(value, sought));
  }
}

/** The values of a list that have keys, and the others. */
export interface Keyed<K> {
  readonly keyOf: (value: Value) => K | undefined;
  readonly keys: ReadonlySet<K>;
  readonly others: readonly Value[];
}

const KEYED = new WeakMap<readonly Value[], Keyed<unknown> | null>();

/** A long list by the keys of its values, which is kept for it; null where it is short, or asked for the first time: most are used once. */
export function keyedAgain<K>(list: readonly Value[], keyOf: (value: Value) => K | undefined): Keyed<K> | null {
  if (list.length <= FEW_COMPARISONS) return null;
  const known = KEYED.get(list) as Keyed<K> | null | undefined;
  if (known === undefined) KEYED.set(list, null);
  if (known === undefined || known?.keyOf === keyOf) return known ?? null;
  const keys = new Set<K>();
  const others: Value[] = [];
  for (const value of list) {
    const key = keyOf(value);
    if (key === undefined) others.push(value);
    else keys.add(key);
  }
  const keyed = { keyOf, keys, others };
  KEYED.set(list, keyed);
  return keyed;
}
