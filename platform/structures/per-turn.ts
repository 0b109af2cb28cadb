// A queue whose elements end as soon as they have begun, each beginning the next, would be worked off in one turn of the event loop, however
// long it is: a thousand requests whose client has gone. So many begin in a turn, and the rest in the following ones.

export class PerTurn {
  #begun = 0;
  readonly #most: number;
  readonly #goOn: () => void;

  /** @param goOn begins what may begin; called in the turn that follows one in which something has begun */
  constructor(most: number, goOn: () => void) {
    this.#most = most;
    this.#goOn = goOn;
  }

  /** @returns whether one more may begin in this turn */
  take(): boolean {
    if (this.#begun >= this.#most) return false;
    if (this.#begun++ === 0) setImmediate(this.#nextTurn);
    return true;
  }

  readonly #nextTurn = (): void => {
    this.#begun = 0;
    this.#goOn();
  };
}
