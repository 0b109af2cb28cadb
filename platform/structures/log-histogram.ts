// Counts of durations in buckets that grow with the duration: a few kilobytes whatever comes, at an error of 3 % at most. Made for what is added to
// with each event; HDR histograms of Node have more digits and a hundred times the memory.

/** Buckets for each doubling. */
const PARTS = 32;
const PART_BITS = 5;
/** Microseconds: about 19 hours. */
const DOUBLINGS = 36;
const BUCKETS = PARTS * (DOUBLINGS - PART_BITS + 1);

/** What a histogram holds, as JSON: bucket numbers with their counts. */
export interface HistogramData {
  readonly buckets: readonly (readonly [bucket: number, count: number])[];
  readonly sumMs: number;
  readonly maxMs: number;
}

export class LogHistogram {
  readonly #counts = new Uint32Array(BUCKETS);
  #count = 0;
  #sumMs = 0;
  #maxMs = 0;

  static from({ buckets, sumMs, maxMs }: HistogramData): LogHistogram {
    const made = new LogHistogram();
    for (const [bucket, count] of buckets) {
      made.#counts[bucket] = count;
      made.#count += count;
    }
    made.#sumMs = sumMs;
    made.#maxMs = maxMs;
    return made;
  }

  get count(): number {
    return this.#count;
  }

  get sumMs(): number {
    return this.#sumMs;
  }

  /** The largest; exact. */
  get maxMs(): number {
    return this.#maxMs;
  }

  /** @param ms below 0 counts as 0 @param times how many of them */
  add(ms: number, times = 1): void {
    const bounded = ms > 0 ? ms : 0;
    this.#counts[bucketOf(bounded * 1_000)]! += times;
    this.#count += times;
    this.#sumMs += bounded * times;
    if (bounded > this.#maxMs) this.#maxMs = bounded;
  }

  /** Adds what another one holds. */
  merge(other: LogHistogram): void {
    for (let bucket = 0; bucket < BUCKETS; bucket++) this.#counts[bucket]! += other.#counts[bucket]!;
    this.#count += other.#count;
    this.#sumMs += other.#sumMs;
    this.#maxMs = Math.max(this.#maxMs, other.#maxMs);
  }

  /**
   * The duration that this part of all does not exceed, in milliseconds; 0 when there is none.
   * @param part from 0 to 1: 0.99
   */
  quantile(part: number): number {
    const wanted = Math.max(1, Math.ceil(part * this.#count));
    let seen = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      seen += this.#counts[bucket]!;
      if (seen >= wanted && seen > 0) return Math.min(upperOf(bucket) / 1_000, this.#maxMs);
    }
    return 0;
  }

  /** How many are within each bound; what shares a bucket with a bound counts as beyond it. @param boundsMs ascending */
  within(boundsMs: readonly number[]): number[] {
    const counts: number[] = [];
    let seen = 0;
    let bucket = 0;
    for (const bound of boundsMs) {
      for (; bucket < BUCKETS && upperOf(bucket) <= bound * 1_000; bucket++) seen += this.#counts[bucket]!;
      counts.push(seen);
    }
    return counts;
  }

  /** The distribution: from each duration in milliseconds on, which part of all is within it. */
  cdf(): [ms: number, part: number][] {
    const points: [number, number][] = [];
    let seen = 0;
    for (const [bucket, count] of this.toJSON().buckets) {
      seen += count;
      points.push([Math.min(upperOf(bucket) / 1_000, this.#maxMs), seen / this.#count]);
    }
    return points;
  }

  toJSON(): HistogramData {
    const buckets = [...this.#counts.entries()].filter(([, count]) => count > 0);
    return { buckets, sumMs: this.#sumMs, maxMs: this.#maxMs };
  }
}

/** Below 32 µs one bucket a microsecond, then 32 for each doubling. */
function bucketOf(micros: number): number {
  const whole = Math.min(Math.floor(micros), 2 ** DOUBLINGS - 1);
  if (whole < PARTS) return whole;
  const doubling = Math.floor(Math.log2(whole));
  return PARTS * (doubling - PART_BITS + 1) + Math.floor(whole / 2 ** (doubling - PART_BITS)) - PARTS;
}

/** Where a bucket ends, in microseconds: all that it counts is below. */
function upperOf(bucket: number): number {
  if (bucket < PARTS) return bucket + 1;
  const doubling = Math.floor(bucket / PARTS) + PART_BITS - 1;
  return ((bucket % PARTS) + PARTS + 1) * 2 ** (doubling - PART_BITS);
}
