// Requests begin in turns: a few of each turn of the event loop at once, as they come; of more than that, one of each sender after the other. So
// who sends many keeps nobody waiting who sends one.

/** Of one turn of the event loop: a few milliseconds' worth, and enough for a large commit. */
const AT_ONCE = 128;

export class Turns<T> {
  readonly #begin: (one: T) => void;
  /** What waits, by its sender; whose turn is next comes first. */
  readonly #waiting = new Map<string, T[]>();
  #begun = 0;
  #isPlanned = false;

  constructor(begin: (one: T) => void) {
    this.#begin = begin;
  }

  /** Begins it now or in its turn. */
  take(sender: string, one: T): void {
    if (this.#begun < AT_ONCE && this.#waiting.size === 0) this.#start(one);
    else {
      const line = this.#waiting.get(sender);
      if (line) line.push(one);
      else this.#waiting.set(sender, [one]);
    }
  }

  #start(one: T): void {
    this.#begun++;
    if (!this.#isPlanned) {
      this.#isPlanned = true;
      setImmediate(() => this.#nextTurn());
    }
    this.#begin(one);
  }

  #nextTurn(): void {
    this.#isPlanned = false;
    this.#begun = 0;
    while (this.#begun < AT_ONCE && this.#waiting.size > 0) {
      const [sender, line] = this.#waiting.entries().next().value as [string, T[]];
      this.#waiting.delete(sender);
      const one = line.shift() as T;
      if (line.length > 0) this.#waiting.set(sender, line);
      this.#start(one);
    }
  }
}
