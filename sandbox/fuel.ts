// How much fuel a slice gets. A turn of a loop costs from two nanoseconds to a microsecond and more, by what is in it; so the first slices
// of a program are small, and what they took says how large those of its next runs may be.
import { boundedCache } from '../platform/structures/index.ts';
import type { LaneRun } from './isolate-state.ts';

/** Long enough that the way to the service and back hardly counts, short enough that neighbours don't wait. */
const SLICE_MS = 5;
const LEAST_FUEL = 2_000;
const MOST_FUEL = 1_000_000;
const MAX_PROGRAMS = 10_000;

export class FuelGauge {
  readonly #first: number;
  readonly #fuel = boundedCache<string, number>(MAX_PROGRAMS);

  /** @param first what a slice of a program gets of which nothing is known */
  constructor(first: number) {
    this.#first = first;
  }

  fuelFor(run: LaneRun): number {
    return this.#fuel.size === 0 ? this.#first : (this.#fuel.peek(keyOf(run)) ?? this.#first);
  }

  /** A run has used so much fuel, alone, in so many milliseconds. */
  learn(run: LaneRun, fuel: number, ms: number): void {
    const key = keyOf(run);
    const before = this.#fuel.peek(key) ?? this.#first;
    const fitting = Math.min(MOST_FUEL, Math.max(LEAST_FUEL, (fuel / Math.max(ms, 0.01)) * SLICE_MS));
    this.#fuel.set(key, Math.round(Math.min(before * 2, (before + fitting) / 2)));
  }
}

const keyOf = ({ request }: LaneRun): string => request.program?.module.hash ?? `${request.namespace} ${request.procedure}`;
