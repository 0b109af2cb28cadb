// How often a password may be wrong (resources-and-api.md 6.6). Pure but for its memory: the clock is a parameter.
import { type BoundedCache, boundedCache } from '../platform/structures/index.ts';

const WINDOW_MS = 5 * 60 * 1000;
const PER_PAIR = 10;
const PER_ADDRESS = 100;
/** Failed logins for a name, from any address, after which its logins wait: each further one doubles the time. */
const FREE_PER_NAME = 20;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

interface Failures {
  /** Times of the failures in the window, oldest first; never more than the limit. */
  times: number[];
  /** Set with the failure that reaches the limit; cleared when the window has emptied. */
  locked: boolean;
}

/**
 * Failures by (username, address) and by address, which lock; and by name, from however many addresses: these only make the name's logins wait, so
 * that nobody can lock somebody else out. Ask `isLocked` before a password is compared and again after:
 * guesses sent at once are then worth no more than guesses sent one by one.
 */
export class LoginLimit {
  // Bounded, so that a flood of invented names can't fill the memory; what is forgotten is the longest unused.
  readonly #pairs = boundedCache<string, Failures>(20_000);
  readonly #addresses = boundedCache<string, Failures>(20_000);
  readonly #names = boundedCache<string, Failures>(20_000);

  /** @param address null: a program of the user asks */
  isLocked(username: string, address: string | null, now: number): boolean {
    return (address !== null && locked(this.#addresses, address, now)) || locked(this.#pairs, pair(username, address), now);
  }

  /** How long a login of that name waits before its password is looked at. */
  waitMs(username: string, now: number): number {
    const failures = this.#names.get(nameKey(username))?.times.filter((time) => now - time <= WINDOW_MS).length ?? 0;
    return failures < FREE_PER_NAME ? 0 : Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - FREE_PER_NAME));
  }

  failed(username: string, address: string | null, now: number): void {
    add(this.#names, nameKey(username), now, 2 * FREE_PER_NAME);
    add(this.#pairs, pair(username, address), now, PER_PAIR);
    if (address !== null) add(this.#addresses, address, now, PER_ADDRESS);
  }

  /** Resets the pair only: a thief with one account of his own must not reset what he has tried on others. */
  succeeded(username: string, address: string | null): void {
    this.#pairs.delete(pair(username, address));
  }
}

/** A name longer than any user's is cut: all such names fail alike. */
const nameKey = (username: string): string => username.slice(0, 130);
const pair = (username: string, address: string | null): string => `${address ?? ''} ${nameKey(username)}`;

function locked(all: BoundedCache<string, Failures>, key: string, now: number): boolean {
  const failures = all.get(key);
  if (!failures?.locked) return false;
  if (now - failures.times.at(-1)! <= WINDOW_MS) return true;
  all.delete(key);
  return false;
}

function add(all: BoundedCache<string, Failures>, key: string, now: number, limit: number): void {
  const times = (all.get(key)?.times ?? []).filter((time) => now - time <= WINDOW_MS);
  times.push(now);
  all.set(key, { times: times.slice(-limit), locked: times.length >= limit });
}
