// Removes rows of the journal that are void, in pieces: each command removes a bounded number.

import type { Db, Document } from 'mongodb';
import { OVERFLOW, overflowRange } from './overflow.ts';
import type { StoredRow } from './row-form.ts';
import type { RowId } from './types.ts';

const ROWS_AT_ONCE = 2_000;

/**
 * @param slot of an epoch @param from @param before sequence numbers of the rows to remove
 * @param overflowBefore overflow texts of the rows before this one are removed, too
 */
export async function removeRange(
  db: Db,
  slot: Omit<RowId, 'seq'>,
  from: number,
  before: number,
  overflowBefore = before,
  hasOverflow = true,
): Promise<void> {
  // Overflow texts go first: while the row is there, a repetition finds them again.
  for (let seq = from; hasOverflow && seq < overflowBefore; seq += ROWS_AT_ONCE)
    await db.collection(OVERFLOW).deleteMany(overflowRange(slot, seq, Math.min(seq + ROWS_AT_ONCE, overflowBefore)) as Document);
  for (let seq = from; seq < before; seq += ROWS_AT_ONCE) {
    const range = { $gte: { ...slot, seq }, $lt: { ...slot, seq: Math.min(seq + ROWS_AT_ONCE, before) } };
    await db.collection<StoredRow>('journal').deleteMany({ _id: range, closed: { $ne: true } });
  }
}
