// Backpressure of a namespace whose runs wait (their events are in the journal: nothing acknowledged is dropped). Above the first bound
// clients are refused, and runs raise events one at a time; above the second a run's statement fails, so that a storm of events does not
// exhaust the memory.

import { apiError } from '../../model/errors/index.ts';

export interface BackpressureLimits {
  readonly runs: number;
  /** Characters of event values. */
  readonly characters: number;
}

export const HIGH: BackpressureLimits = { runs: 50_000, characters: 64_000_000 };
export const EXTREME: BackpressureLimits = { runs: 500_000, characters: 256_000_000 };

export class Backpressure {
  readonly #high: BackpressureLimits;
  readonly #extreme: BackpressureLimits;
  #runs = 0;
  #characters = 0;
  #gate: Promise<void> = Promise.resolve();
  #atGate = 0;
  #waiting: (() => void)[] = [];
  #isClosed = false;

  constructor(high: BackpressureLimits = HIGH, extreme: BackpressureLimits = EXTREME) {
    this.#high = high;
    this.#extreme = extreme;
  }

  add(characters: number): void {
    this.#runs++;
    this.#characters += characters;
  }

  remove(characters: number): void {
    this.#runs--;
    this.#characters -= characters;
    if (this.#waiting.length > 0 && !this.isHigh) for (const go of this.#waiting.splice(0)) go();
  }

  /** Whether work from outside is refused. */
  get isHigh(): boolean {
    return this.#runs >= this.#high.runs || this.#characters >= this.#high.characters;
  }

  /** Whether a program's change that starts runs commits at once. */
  get isLow(): boolean {
    return !this.isHigh && this.#atGate === 0;
  }

  /** Resolves when there is room again: for work that can wait (redeliveries, schedules). */
  async whenRelieved(): Promise<void> {
    while (this.isHigh && !this.#isClosed) await new Promise<void>((go) => this.#waiting.push(go));
  }

  /** Whether the service is stopping. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Ends all waiting: the service is stopping. */
  close(): void {
    this.#isClosed = true;
    for (const go of this.#waiting.splice(0)) go();
  }

  /**
   * Commits a program's change that starts runs: at once while there is room, else one after the other, so that open runs end first.
   * @throws cascade.quota.exceeded beyond the second bound
   */
  async pass<T>(commit: () => Promise<T>): Promise<T> {
    if (this.#runs >= this.#extreme.runs || this.#characters >= this.#extreme.characters)
      throw apiError('cascade.quota.exceeded', 'waitingRuns', this.#extreme.runs);
    if (this.isLow) return commit();
    const before = this.#gate;
    let open = (): void => undefined;
    this.#gate = new Promise((resolve) => (open = resolve));
    this.#atGate++;
    try {
      await before;
      return await commit();
    } finally {
      this.#atGate--;
      open();
    }
  }
}
