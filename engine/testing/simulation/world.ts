// A world in which nothing happens by itself: every command to the store, every answer of the sandbox and every timer waits until the
// scheduler, led by a seed, lets it happen. A process can die at any such moment: its commands in flight are then carried out or not, and
// it gets no answer.

/** Random numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** One life of a service. */
export interface Life {
  /** The name in reports. */
  readonly name?: string;
  alive: boolean;
  /** The service stalls: its messages may still arrive, but it gets none. */
  isPaused?: boolean;
  /** Another service has taken over: nothing of this one may be stored any more. */
  isFenced?: boolean;
}

interface Pending {
  readonly life: Life;
  readonly what: string;
  /** Whether it is on its way to the store already. */
  readonly isSent: boolean;
  readonly happen: () => void;
}

export class World {
  readonly random: () => number;
  /** Called with each step, for the report of a failing seed. */
  readonly onStep: ((what: string) => void) | null;
  #pending: Pending[] = [];

  constructor(seed: number, onStep: ((what: string) => void) | null = null) {
    this.random = randomFrom(seed);
    this.onStep = onStep;
  }

  /** Resolves in its turn; never in a life that is over. */
  turn(life: Life, what: string, isSent = false): Promise<void> {
    return new Promise((happen) => this.#pending.push({ life, what, isSent, happen }));
  }

  /** Calls `happen` in its turn. */
  later(life: Life, what: string, happen: () => void, isSent = false): void {
    this.#pending.push({ life, what, isSent, happen });
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)] as T;
  }

  /** Lets one thing happen. False when nothing that waits can happen. */
  advance(): boolean {
    const pending = this.#pending;
    for (let left = pending.length; left > 0; left--) {
      const index = Math.floor(this.random() * left);
      const next = pending[index] as Pending;
      if (next.life.alive && (next.isSent || !next.life.isPaused)) {
        pending[index] = pending[pending.length - 1] as Pending;
        pending.pop();
        this.onStep?.(`${next.life.name ?? ''} ${next.what}`);
        next.happen();
        return true;
      }
      // Moves it out of the way: that of a dead life for good, that of a stalled one for this time.
      pending[index] = pending[left - 1] as Pending;
      pending[left - 1] = next;
      if (!next.life.alive) {
        pending[left - 1] = pending[pending.length - 1] as Pending;
        pending.pop();
      }
    }
    return false;
  }
}
