// A clock that tests move: they jump over hours without waiting for them.

import type { Clock, Timer } from './types.ts';

interface Armed {
  readonly timeMs: number;
  readonly call: () => void;
}

export class VirtualClock implements Clock {
  #now: number;
  readonly #armed = new Set<Armed>();

  /** @param startMs what `now()` gives at first, milliseconds since the epoch */
  constructor(startMs: number) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  at(timeMs: number, call: () => void): Timer {
    const armed: Armed = { timeMs, call };
    this.#armed.add(armed);
    return { cancel: () => this.#armed.delete(armed) };
  }

  /** When the next timer is due; null without one. */
  next(): number | null {
    return this.#first()?.timeMs ?? null;
  }

  /**
   * Goes on to a time (never back). The timers that are due until then are called one by one, in the order of their times (then of
   * their making), each at its own time: `now()` stands at it, or at the present for one that was overdue.
   * @param settle waited for before each timer and at the end: until what was set going has come to rest (and made timers of its own)
   */
  async advanceTo(timeMs: number, settle: () => Promise<void> = async () => undefined): Promise<void> {
    for (;;) {
      await settle();
      const first = this.#first();
      if (!first || first.timeMs > timeMs) break;
      this.#armed.delete(first);
      this.#now = Math.max(this.#now, Math.ceil(first.timeMs)); // whole, as of every clock, and never before the timer's time
      first.call();
    }
    this.#now = Math.max(this.#now, Math.floor(timeMs));
  }

  #first(): Armed | undefined {
    let first: Armed | undefined;
    for (const armed of this.#armed) if (!first || armed.timeMs < first.timeMs) first = armed;
    return first;
  }
}
