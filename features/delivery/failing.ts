// Deliveries that failed, with the times of their retries: the delay doubles with each failure. Kept in memory only: after a restart all
// are due.

import type { Filter, ObjectId } from 'mongodb';
import type { Delivery } from './stored-delivery.ts';

const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;
/** Bounds the filter that excludes failing deliveries: beyond it, those with the fewest failures are not excluded. */
const MOST = 10_000;

interface Failure {
  readonly id: ObjectId;
  readonly times: number;
  readonly retryAtMs: number;
}

export class Failing {
  readonly #failures = new Map<string, Failure>();

  /** @returns whether this is its first failure */
  add(id: ObjectId, nowMs: number): boolean {
    const key = id.toHexString();
    const times = (this.#failures.get(key)?.times ?? 0) + 1;
    this.#failures.delete(key); // moves it to the end
    this.#failures.set(key, { id, times, retryAtMs: nowMs + Math.min(FIRST_MS * 2 ** (times - 1), LONGEST_MS) });
    if (this.#failures.size > MOST) for (const oldest of this.#failures.keys()) return (void this.#failures.delete(oldest), times === 1);
    return times === 1;
  }

  remove(id: ObjectId): void {
    if (this.#failures.size > 0) this.#failures.delete(id.toHexString());
  }

  /** When the next retry is due; null when no delivery waits for one. */
  nextMs(nowMs: number): number | null {
    let next: number | null = null;
    for (const { retryAtMs } of this.#failures.values()) if (retryAtMs > nowMs && (next === null || retryAtMs < next)) next = retryAtMs;
    return next;
  }

  /** A filter that excludes deliveries whose retry is not due. */
  without(nowMs: number): Filter<Delivery> {
    const waiting = [...this.#failures.values()].filter(({ retryAtMs }) => retryAtMs > nowMs).map(({ id }) => id);
    return waiting.length > 0 ? { _id: { $nin: waiting } } : {};
  }
}
