// How long ago the lease of this process was renewed, for a question that each request asks. The monotonic clock stands still while the machine
// sleeps; what counts the sleep is too dear to be read each time. A wall clock that has gone further than the monotonic one says when to read it:
// somebody has set it, or the machine was asleep.

import { sinceBoot } from '../../platform/clock/index.ts';

/** What the two clocks may differ by before that means anything: a clock that is corrected bit by bit stays far below in the time of a lease. */
const JUMP_MS = 1_000;

export interface Clocks {
  readonly monotonic: () => number;
  readonly wall: () => number;
  /** As `monotonic`, the machine's sleep included; null where nobody knows. */
  readonly sinceBoot: () => number | null;
}

const MACHINE: Clocks = { monotonic: () => performance.now(), wall: () => Date.now(), sinceBoot };

export interface Moment {
  readonly monoMs: number;
  readonly wallMs: number;
  readonly bootMs: number | null;
}

export class LeaseTime {
  readonly #clocks: Clocks;
  readonly #onSlept: () => void;
  /** The renewal; of one before a sleep as if the monotonic clock had gone on, and of one before a change of the wall clock as if made by the new time. */
  #renewed: Moment;

  /** @param onSlept called when the machine is found to have slept since the renewal */
  constructor(onSlept: () => void, clocks = MACHINE) {
    this.#clocks = clocks;
    this.#onSlept = onSlept;
    this.#renewed = this.now();
  }

  /** For `renewed`: when a renewal is sent. */
  now(): Moment {
    const { monotonic, wall, sinceBoot: boot } = this.#clocks;
    return { monoMs: monotonic(), wallMs: wall(), bootMs: boot() };
  }

  /** A renewal that was sent then has succeeded. */
  renewed(sentAt: Moment): void {
    if (sentAt.monoMs > this.#renewed.monoMs) this.#renewed = sentAt;
  }

  /** Milliseconds since the renewal was sent. */
  get passedMs(): number {
    const { monoMs, wallMs } = this.#renewed;
    const passedMs = this.#clocks.monotonic() - monoMs;
    return this.#clocks.wall() - wallMs - passedMs > JUMP_MS ? this.#passedWithSleep(passedMs) : passedMs;
  }

  #passedWithSleep(awakeMs: number): number {
    const now = this.now();
    const { wallMs, bootMs } = this.#renewed;
    // Where nobody knows better it counts as asleep: the renewal that follows tells.
    const passedMs = now.bootMs === null || bootMs === null ? now.wallMs - wallMs : now.bootMs - bootMs;
    const hasSlept = passedMs - awakeMs > JUMP_MS;
    this.#renewed = {
      monoMs: hasSlept ? now.monoMs - passedMs : this.#renewed.monoMs,
      wallMs: now.wallMs - (hasSlept ? passedMs : awakeMs),
      bootMs,
    };
    if (!hasSlept) return awakeMs;
    this.#onSlept();
    return passedMs;
  }
}
