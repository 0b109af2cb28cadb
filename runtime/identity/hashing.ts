// How many passwords are hashed at one time: each takes memory and a core, and whoever is there may ask for it.
import { fault } from '../faults.ts';

const AT_ONCE = 2;
const MOST_WAITING = 50;
const RETRY_AFTER_SECONDS = 1;

/** A bounded line: so many at once, so many waiting, the others are refused. */
export class HashingLine {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** @throws security.rate.limited: too many are waiting */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= AT_ONCE) {
      if (this.#waiting.length >= MOST_WAITING) throw fault('cascade.security.rate.limited', RETRY_AFTER_SECONDS);
      await new Promise<void>((go) => this.#waiting.push(go)); // the place is handed on
    } else this.#running++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}
