// Starts requests fairly: in each turn of the event loop a few at once, in the order of arrival; further ones one per sender in turn, so
// that a sender with many requests does not delay a sender with one.

/** Requests started in one turn of the event loop: enough for a large commit. */
const AT_ONCE = 128;
/** Time spent on starting in one turn of the event loop, where requests take longer than most. */
const TURN_MS = 5;

export class RoundRobinQueue<T> {
  readonly #begin: (one: T) => void;
  /** Waiting requests by sender; the sender whose turn is next is the first. */
  readonly #waiting = new Map<string, T[]>();
  #begun = 0;
  /** The end of this turn's time. */
  #until = 0;
  #isPlanned = false;

  constructor(begin: (one: T) => void) {
    this.#begin = begin;
  }

  /** Starts a request now or in its turn. */
  take(sender: string, one: T): void {
    if (this.#waiting.size === 0 && this.#hasRoom()) this.#start(one);
    else {
      const line = this.#waiting.get(sender);
      if (line) line.push(one);
      else this.#waiting.set(sender, [one]);
    }
  }

  #hasRoom(): boolean {
    return this.#begun === 0 || (this.#begun < AT_ONCE && performance.now() < this.#until);
  }

  #start(one: T): void {
    this.#begun++;
    if (!this.#isPlanned) {
      this.#isPlanned = true;
      this.#until = performance.now() + TURN_MS;
      setImmediate(() => this.#nextTurn());
    }
    this.#begin(one);
  }

  #nextTurn(): void {
    this.#isPlanned = false;
    this.#begun = 0;
    while (this.#waiting.size > 0 && this.#hasRoom()) {
      const [sender, line] = this.#waiting.entries().next().value as [string, T[]];
      this.#waiting.delete(sender);
      const one = line.shift() as T;
      if (line.length > 0) this.#waiting.set(sender, line);
      this.#start(one);
    }
  }
}

/** Begins requests in their turn. A sender is whoever is to have no more than its share. */
export type RequestTurns = RoundRobinQueue<() => void>;

/** For the requests of all transports: they share the thread. */
export const requestTurns = (): RequestTurns => new RoundRobinQueue((begin) => begin());
