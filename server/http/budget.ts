// Bounds the memory that all clients together may occupy, and each of them alone: otherwise a few could take all of it.
import { apiError } from '../../model/errors/index.ts';
import { availableMemory } from '../../platform/about/index.ts';

/** Amounts below are not counted: they are held for a moment only, and there are very many of them. */
export const COUNTED_BYTES = 16 * 1024;

export class Budget {
  readonly #name: string;
  readonly #most: number;
  readonly #mostEach: number;
  readonly #held = new Map<string, number>();
  #total = 0;

  /** @param name the budget's name in errors @param mostEach the bound of one owner: an address */
  constructor(name: string, most: number, mostEach: number) {
    this.#name = name;
    this.#most = most;
    this.#mostEach = mostEach;
  }

  get total(): number {
    return this.#total;
  }

  /** @returns the error when there is no room; null when the amount is taken, and has to be given back */
  take(owner: string, amount: number): Error | null {
    const held = this.#held.get(owner) ?? 0;
    if (held + amount > this.#mostEach) return apiError('cascade.quota.exceeded', this.#name, this.#mostEach);
    if (this.#total + amount > this.#most) return apiError('cascade.quota.exceeded', this.#name, this.#most);
    this.#held.set(owner, held + amount);
    this.#total += amount;
    return null;
  }

  give(owner: string, amount: number): void {
    const left = (this.#held.get(owner) ?? 0) - amount;
    if (left > 0) this.#held.set(owner, left);
    else this.#held.delete(owner);
    this.#total -= amount;
  }
}

/** Default limit of one body or message. */
export const BODY_LIMIT_BYTES = 10 * 1024 * 1024;
const MOST_REQUEST_BYTES = 384 * 1024 * 1024;
/** As a part of the memory, where that is less. */
const PART_OF_MEMORY = 1 / 8;
const PART_EACH = 1 / 3;
/** Number of bodies of the greatest length for which there is room at least. */
const LEAST_BODIES = 4;

const mostIn = (memoryBytes: number): number => Math.min(MOST_REQUEST_BYTES, memoryBytes * PART_OF_MEMORY);

/** The budget for what the subscriptions of all sockets keep. */
export function subscriptionBudget(memoryBytes = availableMemory()): Budget {
  const most = mostIn(memoryBytes);
  return new Budget('subscriptionBytes', most, most * PART_EACH);
}

/**
 * The budget for bodies and messages until they are answered.
 * @param limitBytes the limit of one of them
 * @param memoryBytes what there is for the service
 */
export function requestBudget(limitBytes: number, memoryBytes = availableMemory()): Budget {
  const least = LEAST_BODIES * limitBytes;
  const most = mostIn(memoryBytes);
  return new Budget('requestBytes', Math.max(most, 2 * least), Math.max(most * PART_EACH, least));
}
