// The error breaker: rules and procedures that fail nearly every time are suspended for a while (resources-and-api.md 9.2), where a quota
// says so. Its state is in this process's memory only.

import type { BreakerLimits } from './run-limits.ts';

interface Sample {
  /** Outcomes of the last runs, the oldest first, from the first failure on. */
  readonly failed: boolean[];
  /** Null: closed, the rule runs. */
  restsUntil: number | null;
  /** Half open: the runs after a suspension decide. */
  isTrial: boolean;
}

export class ErrorBreaker {
  readonly #now: () => number;
  /** By resource: those with recent failures. */
  readonly #samples = new Map<string, Sample>();

  /** @param now ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** How long a rule or procedure is suspended from now on, in ms; 0: it may run. @param limits undefined: no breaker */
  restMs(resource: string, limits: BreakerLimits | undefined): number {
    const sample = limits && this.#samples.get(resource);
    if (!sample || sample.restsUntil === null) return 0;
    const left = sample.restsUntil - this.#now();
    if (left > 0) return left;
    sample.restsUntil = null;
    sample.isTrial = true;
    return 0;
  }

  /** Records the outcome of a run. */
  ended(resource: string, hasFailed: boolean, limits: BreakerLimits | undefined): void {
    if (!limits) return;
    let sample = this.#samples.get(resource);
    if (!sample) {
      if (!hasFailed) return;
      this.#samples.set(resource, (sample = { failed: [], restsUntil: null, isTrial: false }));
    }
    if (sample.restsUntil !== null) return; // it began before the suspension
    sample.failed.push(hasFailed);
    const size = sample.isTrial ? limits.retrySample : limits.sample;
    if (sample.failed.length > size) sample.failed.shift();
    const failures = sample.failed.filter(Boolean).length;
    if (failures === 0) return void this.#samples.delete(resource);
    if (sample.failed.length < size) return;
    if (failures * 100 >= limits.failurePercent * size) {
      sample.failed.length = 0;
      sample.restsUntil = this.#now() + limits.retryAfterMs;
    } else if (sample.isTrial) sample.isTrial = false;
  }

  /** Closes the breaker: the rule has a new text. */
  forget(resource: string): void {
    this.#samples.delete(resource);
  }
}
