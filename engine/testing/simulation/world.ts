// A world in which nothing happens by itself: every command to the store, every answer of the sandbox and every timer waits until the
// scheduler, led by a seed, lets it happen. A process can die at any such moment: what it had under way is then done or not, unheard.

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
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
  /** For reports. */
  readonly name?: string;
  alive: boolean;
  /** It stands still: what it has sent may still arrive, nothing comes back to it. */
  isPaused?: boolean;
  /** Another one has taken over what it had begun: nothing of it may be stored any more. */
  isFenced?: boolean;
}

interface Pending {
  readonly life: Life;
  readonly what: string;
  /** It is on its way to the store already. */
  readonly isSent: boolean;
  readonly happen: () => void;
}

export class World {
  readonly random: () => number;
  /** Told what happens, for the report of a failing seed. */
  readonly onStep: ((what: string) => void) | null;
  #pending: Pending[] = [];

  constructor(seed: number, onStep: ((what: string) => void) | null = null) {
    this.random = randomFrom(seed);
    this.onStep = onStep;
  }

  /** Resolves when it is this thing's turn; never in a life that is over. */
  turn(life: Life, what: string, isSent = false): Promise<void> {
    return new Promise((happen) => this.#pending.push({ life, what, isSent, happen }));
  }

  /** Calls it when it is its turn. */
  later(life: Life, what: string, happen: () => void, isSent = false): void {
    this.#pending.push({ life, what, isSent, happen });
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)] as T;
  }

  /** Lets one thing happen. False when nothing waits that can. */
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
      // Out of the way of the others: the dead for good, those who stand still for this time.
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
