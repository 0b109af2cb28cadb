// Starts requests fairly: in each turn of the event loop a few at once, in the order of arrival; further ones one per sender in turn, so
// that a sender with many requests does not delay a sender with one.

/** Requests started in one turn of the event loop: enough for a large commit. */
const AT_ONCE = 128;
/** Time spent on starting in one turn of the event loop, where requests take longer than most. */
const TURN_MS = 5;

/** For the requests of all transports and the parts of batches: they share the thread. A sender is whoever is to have no more than its share. */
export class RoundRobinQueue {
  /** Waiting requests by sender; the sender whose turn is next is the first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #begun = 0;
  /** The end of this turn's time. */
  #until = 0;
  #isPlanned = false;

  /** @param begin starts the request; called now or in its turn */
  take(sender: string, begin: () => void): void {
    if (this.#waiting.size === 0 && this.#hasRoom()) this.#start(begin);
    else {
      const line = this.#waiting.get(sender);
      if (line) line.push(begin);
      else this.#waiting.set(sender, [begin]);
    }
  }

  #hasRoom(): boolean {
    return this.#begun === 0 || (this.#begun < AT_ONCE && performance.now() < this.#until);
  }

  #start(begin: () => void): void {
    this.#begun++;
    if (!this.#isPlanned) {
      this.#isPlanned = true;
      this.#until = performance.now() + TURN_MS;
      setImmediate(() => this.#nextTurn());
    }
    begin();
  }

  #nextTurn(): void {
    this.#isPlanned = false;
    this.#begun = 0;
    while (this.#waiting.size > 0 && this.#hasRoom()) {
      const [sender, line] = this.#waiting.entries().next().value as [string, (() => void)[]];
      this.#waiting.delete(sender);
      const begin = line.shift() as () => void;
      if (line.length > 0) this.#waiting.set(sender, line);
      this.#start(begin);
    }
  }
}
