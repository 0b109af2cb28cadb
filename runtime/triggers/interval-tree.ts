// Two-sided ranges: intervals sorted by their low end, with the highest end of every half, so that those that overlap a span are found in
// O(log n + found).
import type { Entry, EntrySet, Visit } from './entry.ts';
import { pending } from './pending.ts';

interface Interval {
  readonly low: number;
  readonly high: number;
  readonly entry: Entry;
}

export class IntervalTree implements EntrySet {
  #lows = new Float64Array(0);
  #highs = new Float64Array(0);
  /** The highest end in each part, stored at the middle of that part. */
  #highest = new Float64Array(0);
  #entries: Entry[] = [];
  readonly #pending = pending<Interval>(
    (a, b) => a.low - b.low,
    (intervals) => this.#build(intervals),
  );

  get size(): number {
    return this.#pending.size;
  }

  /** Adds a closed interval. */
  add(low: number, high: number, entry: Entry): void {
    this.#pending.add({ low, high, entry });
  }

  forget(): void {
    this.#pending.forget();
  }

  /** Visits those that overlap the span; removed ones may be among them. */
  visit(from: number, to: number, exact: boolean, visit: Visit): void {
    for (const { low, high, entry } of this.#pending.unsorted()) if (low <= to && high >= from) visit(entry, exact);
    this.#visitPart(0, this.#entries.length, from, to, exact, visit);
  }

  #visitPart(begin: number, end: number, from: number, to: number, exact: boolean, visit: Visit): void {
    while (begin < end) {
      const middle = (begin + end) >>> 1;
      if ((this.#highest[middle] as number) < from) return;
      this.#visitPart(begin, middle, from, to, exact, visit);
      if ((this.#lows[middle] as number) > to) return;
      if ((this.#highs[middle] as number) >= from) visit(this.#entries[middle] as Entry, exact);
      begin = middle + 1;
    }
  }

  #build(intervals: readonly Interval[]): void {
    this.#lows = Float64Array.from(intervals, ({ low }) => low);
    this.#highs = Float64Array.from(intervals, ({ high }) => high);
    this.#entries = intervals.map(({ entry }) => entry);
    this.#highest = new Float64Array(intervals.length);
    this.#fillHighest(0, intervals.length);
  }

  #fillHighest(begin: number, end: number): number {
    if (begin >= end) return Number.NEGATIVE_INFINITY;
    const middle = (begin + end) >>> 1;
    const highest = Math.max(this.#highs[middle] as number, this.#fillHighest(begin, middle), this.#fillHighest(middle + 1, end));
    this.#highest[middle] = highest;
    return highest;
  }
}
