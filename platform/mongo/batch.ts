// The answer to `find`, `aggregate` and `getMore`, read from its bytes: the driver's cursors would make objects of the way there.

import { asBytes, int64At, KIND, nameEnd, sizeOf } from '../../model/values/index.ts';

export interface Batch {
  /** 0 when the store has no more. */
  readonly cursor: bigint;
  /** One document each, over the memory of the answer. */
  readonly rows: Uint8Array[];
}

/** @param raw the member `cursor` of the answer: `{firstBatch | nextBatch: [rows], id, ns}` */
export function batchIn(raw: Uint8Array): Batch {
  const bytes = asBytes(raw);
  let cursor = 0n;
  let rows: Uint8Array[] = [];
  for (let at = 4; bytes[at] !== 0; ) {
    const kind = bytes[at] as number;
    const value = nameEnd(bytes, at + 1) + 1;
    if (kind === KIND.array) rows = documentsIn(bytes, value);
    else if (kind === KIND.int64) cursor = BigInt(int64At(bytes, value));
    at = value + sizeOf(kind, bytes, value);
  }
  return { cursor, rows };
}

function documentsIn(bytes: ReturnType<typeof asBytes>, start: number): Uint8Array[] {
  const rows: Uint8Array[] = [];
  for (let at = start + 4; bytes[at] !== 0; ) {
    const row = nameEnd(bytes, at + 1) + 1;
    at = row + bytes.readInt32LE(row);
    rows.push(bytes.subarray(row, at));
  }
  return rows;
}
