// Sorted structures collect additions in an unsorted part. It is merged when it is half as large as the sorted one (so that many additions
// in a row cost little each), or when look-ups have scanned it for as long as merging takes; removed entries are dropped when they are a
// quarter.
import type { Entry } from './entry.ts';

export interface Item {
  readonly entry: Entry;
}

export interface Pending<T extends Item> {
  /** The items that are not in the sorted part: few enough to be scanned. */
  unsorted(): readonly T[];
  /** The number of items that are not removed. */
  readonly size: number;
  add(item: T): void;
  forget(): void;
}

const SMALLEST_MERGE = 64;

/** @param rebuild gets every item that is not removed, sorted by `compare`, whenever the sorted part changes */
export function pending<T extends Item>(compare: (a: T, b: T) => number, rebuild: (items: readonly T[]) => void): Pending<T> {
  let sorted: T[] = [];
  let fresh: T[] = [];
  let living = 0;
  let dead = 0;
  /** Number of items that look-ups have scanned since the last merge. */
  let scanned = 0;
  const merge = (): void => {
    sorted = merged(sorted.filter(isAlive), fresh.filter(isAlive).sort(compare), compare);
    fresh = [];
    dead = 0;
    scanned = 0;
    rebuild(sorted);
  };
  return {
    unsorted() {
      scanned += fresh.length;
      if (scanned > sorted.length + fresh.length) merge();
      return fresh;
    },
    get size() {
      return living;
    },
    add(item) {
      fresh.push(item);
      living++;
      if (fresh.length > SMALLEST_MERGE && fresh.length * 2 > sorted.length) merge();
    },
    forget() {
      living--;
      dead++;
      if (dead * 4 > sorted.length + fresh.length) merge();
    },
  };
}

const isAlive = ({ entry }: Item): boolean => entry.alive;

function merged<T>(a: readonly T[], b: readonly T[], compare: (a: T, b: T) => number): T[] {
  const result: T[] = [];
  let i = 0;
  for (const item of b) {
    while (i < a.length && compare(a[i] as T, item) <= 0) result.push(a[i++] as T);
    result.push(item);
  }
  while (i < a.length) result.push(a[i++] as T);
  return result;
}
