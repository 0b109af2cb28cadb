// What a change's own BEFORE rules do to the instances that it is about. They are committed while the change waits for its rules, so the
// change meets another version than it has read; it must not take that for a lost race, and run the rules again, which would do it again.

import type { Write } from '../transactions/index.ts';

export class OwnChanges {
  /** Of the change whose rules this change is made by; absent: it is made by none. */
  readonly #outer: OwnChanges | undefined;
  readonly #counts = new Map<string, number>();

  constructor(outer: OwnChanges | undefined) {
    this.#outer = outer;
  }

  /** Counts from now on the changes of this instance: only those that are asked for are kept, however many the rules change. */
  watch(collection: string, id: string): this {
    this.#counts.set(keyOf(collection, id), 0);
    return this;
  }

  /** Something within has stored these. */
  stored(writes: readonly Write[]): void {
    for (const write of writes) {
      if (write.op === 'insert') continue;
      const key = keyOf(write.collection, write.id.toHexString());
      for (let one: OwnChanges | undefined = this; one; one = one.#outer) {
        const count = one.#counts.get(key);
        if (count !== undefined) one.#counts.set(key, count + 1);
      }
    }
  }

  /** How often the instance was changed since it is watched; each change has raised its version by one. */
  countOf(collection: string, id: string): bigint {
    return BigInt(this.#counts.get(keyOf(collection, id)) ?? 0);
  }
}

const keyOf = (collection: string, id: string): string => `${collection}/${id}`;
