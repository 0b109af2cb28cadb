import { expect, test } from 'vitest';
import { recordsIn, unsyncedOf } from './power.ts';

const record = (kind: string, inode: number, offset = 0, size = 0, text = ''): Buffer => {
  const head = Buffer.alloc(40);
  for (const [n, field] of [kind.charCodeAt(0), inode, offset, size, text.length].entries()) head.writeBigUInt64LE(BigInt(field), 8 * n);
  return Buffer.concat([head, Buffer.from(text)]);
};

test('what was written since the last sync of its file is taken back, the last first', () => {
  const records = recordsIn(
    Buffer.concat([
      record('w', 1, 0, 10, 'synced'),
      record('w', 2, 8, 20, 'also lost'),
      record('s', 1),
      record('w', 1, 4, 12, 'lost'),
      record('w', 3, 0, 5, 'of an earlier file'),
      record('n', 3),
      record('w', 3, 0, 0),
      record('w', 1, 0, 99, 'cut short').subarray(0, 45),
    ]),
  );
  expect(unsyncedOf(records).map(({ inode, offset, size, bytes }) => [Number(inode), offset, size, bytes.toString()])).toEqual([
    [3, 0, 0, ''],
    [1, 4, 12, 'lost'],
    [2, 8, 20, 'also lost'],
  ]);
});
