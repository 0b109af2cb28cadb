// Removes rows of the journal that hold nothing any more, however many they are: so many at a time, each time in a command of its own.

import type { Db, Document } from 'mongodb';
import { OVERFLOW, overflowRange } from './overflow.ts';
import type { StoredRow } from './row-form.ts';
import type { RowId } from './types.ts';

const ROWS_AT_ONCE = 2_000;

/**
 * @param slot of an epoch @param from @param before sequence numbers of the rows that go
 * @param asideBefore what stands beside the rows up to there goes, too
 */
export async function removeRange(
  db: Db,
  slot: Omit<RowId, 'seq'>,
  from: number,
  before: number,
  overflowBefore = before,
  hasOverflow = true,
): Promise<void> {
  // What stands beside goes first: while its row is there, it is found again by a repetition.
  for (let seq = from; hasOverflow && seq < overflowBefore; seq += ROWS_AT_ONCE)
    await db.collection(OVERFLOW).deleteMany(overflowRange(slot, seq, Math.min(seq + ROWS_AT_ONCE, overflowBefore)) as Document);
  for (let seq = from; seq < before; seq += ROWS_AT_ONCE) {
    const range = { $gte: { ...slot, seq }, $lt: { ...slot, seq: Math.min(seq + ROWS_AT_ONCE, before) } };
    await db.collection<StoredRow>('journal').deleteMany({ _id: range, closed: { $ne: true } });
  }
}
