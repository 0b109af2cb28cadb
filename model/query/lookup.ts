// Which of many values are among many others: by keys, so that not each is compared with each.
import type { Value } from '../../stdlib/values/index.ts';
import { hostBounds, withinBudget } from './host-budget.ts';

/** Fewer comparisons than these are made one by one. */
const FEW = 256;
export const areFew = (comparisons: number): boolean => comparisons <= FEW;

/** How values are compared. Those with a key are equal only to those with the same key, or without one. */
interface Equality<K> {
  keyOf(value: Value): K | undefined;
  isEqual(value: Value, sought: Value): boolean;
}

export class Lookup<K> {
  readonly #values: readonly Value[];
  readonly #equality: Equality<K>;
  readonly #keyed = new Map<K, Value[]>();
  readonly #others: Value[] = [];

  private constructor(values: readonly Value[], equality: Equality<K>) {
    this.#values = values;
    this.#equality = equality;
    hostBounds.spend(values.length);
    for (const value of values) {
      const key = equality.keyOf(value);
      const same = key === undefined ? this.#others : this.#keyed.get(key);
      if (same) same.push(value);
      else if (key !== undefined) this.#keyed.set(key, [value]);
    }
  }

  /** Asks for some of the values. @throws {BudgetExceeded} */
  static within<K>(values: readonly Value[], equality: Equality<K>, ask: (lookup: Lookup<K>) => boolean): boolean {
    return withinBudget({ builtin: null, operator: 'in', args: [] }, () => ask(new Lookup(values, equality)));
  }

  has(sought: Value): boolean {
    const key = this.#equality.keyOf(sought);
    if (key === undefined) return this.#isAmong(this.#values, sought);
    return this.#isAmong(this.#keyed.get(key) ?? [], sought) || this.#isAmong(this.#others, sought);
  }

  #isAmong(values: readonly Value[], sought: Value): boolean {
    hostBounds.spend(1 + values.length);
    return values.some((value) => this.#equality.isEqual(value, sought));
  }
}
