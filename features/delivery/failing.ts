// Deliveries that could not be brought on, each with when it is tried again: twice as late after each failure. In memory only: a restart tries all.

import type { Filter, ObjectId } from 'mongodb';
import type { Delivery } from './stored-delivery.ts';

const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;
/** Beyond it those that have failed least wait no longer than the others: the filter that leaves them out has a bound. */
const MOST = 10_000;

interface Failure {
  readonly id: ObjectId;
  readonly times: number;
  readonly retryAtMs: number;
}

export class Failing {
  readonly #failures = new Map<string, Failure>();

  /** @returns whether it had not failed before */
  add(id: ObjectId, nowMs: number): boolean {
    const key = id.toHexString();
    const times = (this.#failures.get(key)?.times ?? 0) + 1;
    this.#failures.delete(key); // to the end
    this.#failures.set(key, { id, times, retryAtMs: nowMs + Math.min(FIRST_MS * 2 ** (times - 1), LONGEST_MS) });
    if (this.#failures.size > MOST) for (const oldest of this.#failures.keys()) return (void this.#failures.delete(oldest), times === 1);
    return times === 1;
  }

  remove(id: ObjectId): void {
    if (this.#failures.size > 0) this.#failures.delete(id.toHexString());
  }

  /** When the next of them is to be tried again; null when none has to wait. */
  nextMs(nowMs: number): number | null {
    let next: number | null = null;
    for (const { retryAtMs } of this.#failures.values()) if (retryAtMs > nowMs && (next === null || retryAtMs < next)) next = retryAtMs;
    return next;
  }

  /** Leaves out those whose time has not come. */
  without(nowMs: number): Filter<Delivery> {
    const waiting = [...this.#failures.values()].filter(({ retryAtMs }) => retryAtMs > nowMs).map(({ id }) => id);
    return waiting.length > 0 ? { _id: { $nin: waiting } } : {};
  }
}
