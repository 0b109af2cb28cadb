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

/** One life of the service. */
export interface Life {
  alive: boolean;
}

interface Pending {
  readonly life: Life;
  readonly what: string;
  readonly happen: () => void;
}

export class World {
  readonly random: () => number;
  /** What happened, for the report of a failing seed. */
  readonly trace: string[] = [];
  #pending: Pending[] = [];

  constructor(seed: number) {
    this.random = randomFrom(seed);
  }

  /** Resolves when it is this thing's turn; never in a life that is over. */
  turn(life: Life, what: string): Promise<void> {
    return new Promise((happen) => this.#pending.push({ life, what, happen }));
  }

  /** Calls it when it is its turn. */
  later(life: Life, what: string, happen: () => void): void {
    this.#pending.push({ life, what, happen });
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)] as T;
  }

  /** Lets one thing happen. False when nothing waits. */
  advance(): boolean {
    this.#pending = this.#pending.filter(({ life }) => life.alive);
    if (this.#pending.length === 0) return false;
    const index = Math.floor(this.random() * this.#pending.length);
    const [next] = this.#pending.splice(index, 1);
    this.trace.push(next?.what ?? '');
    next?.happen();
    return true;
  }
}
