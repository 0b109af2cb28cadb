// Finds the highest rate that keeps a bound: the rate is doubled until it breaks the bound, then bisected until the limits are close. Every
// step has noise, so the search is repeated near the first result, and each repetition is a figure of its own.

export interface RampStep {
  readonly rate: number;
  /** The measured p99, compared with the bound. */
  readonly p99Ms: number;
  readonly holds: boolean;
}

export type Measure = (rate: number) => Promise<RampStep>;

const FIRST_RATE = 100;
const MOST_RATE = 1_000_000;
/** Two rates with a smaller ratio count as equal. */
const NEAR = 1.1;
/** A repetition begins with the first result divided and multiplied by this. */
const AROUND = 1.3;

/** @returns the highest rate that kept the bound; 0 when none did, down to one request a second */
export async function ramp(measure: Measure, around?: number): Promise<number> {
  let holds = 0;
  let breaks = Number.POSITIVE_INFINITY;
  for (let rate = around ? Math.max(1, Math.round(around / AROUND)) : FIRST_RATE; rate <= MOST_RATE && rate >= 1; ) {
    if ((await measure(rate)).holds) holds = Math.max(holds, rate);
    else breaks = Math.min(breaks, rate);
    if (breaks / holds < NEAR || breaks - holds <= 1) break;
    rate = next(holds, breaks, around !== undefined);
  }
  return holds;
}

function next(holds: number, breaks: number, isRepeated: boolean): number {
  if (holds === 0) return Math.floor(breaks / 2);
  if (breaks === Number.POSITIVE_INFINITY) return Math.round(holds * (isRepeated ? AROUND ** 2 : 2));
  return Math.round(Math.sqrt(holds * breaks));
}
