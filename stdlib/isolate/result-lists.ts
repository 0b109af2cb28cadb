// Result lists (language.md Q7) are Arrays with a brand that no program can see or set; it lives as long as the Array.
import { encodeInner, type Value } from '../values/index.ts';
import type { Run } from './run.ts';

const branded = new WeakSet<object>();

export function resultList(rows: Value[]): Value[] {
  branded.add(rows);
  return rows;
}

export function isResultList(value: Value): boolean {
  return typeof value === 'object' && value !== null && branded.has(value);
}

/** What came from the host counts too: by the first row, as rows are of one kind. */
export function chargeRows(run: Run, rows: readonly Value[]): void {
  const [first] = rows;
  if (first !== undefined) run.charge(rows.length * encodeInner(first).length * BYTES_PER_CHARACTER);
}
/** A value in memory against its text. */
const BYTES_PER_CHARACTER = 3;
