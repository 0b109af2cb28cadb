// The bytes of a BSON document, element by element: kinds, sizes and the scalars that need more than a read of the Buffer.

export const KIND = {
  double: 1,
  string: 2,
  document: 3,
  array: 4,
  binary: 5,
  undefined: 6,
  objectId: 7,
  boolean: 8,
  date: 9,
  null: 10,
  regex: 11,
  int32: 16,
  timestamp: 17,
  int64: 18,
  decimal128: 19,
} as const;

/** Where the name at `at` ends: the index of its zero byte. */
export function nameEnd(bytes: Bytes, at: number): number {
  while (bytes[at] !== 0) at++;
  return at;
}

/** How many bytes a value takes. @throws for a kind that the service never stores and no aggregation yields */
export function sizeOf(kind: number, bytes: Bytes, at: number): number {
  switch (kind) {
    case KIND.string:
      return 4 + bytes.readInt32LE(at);
    case KIND.document:
    case KIND.array:
      return bytes.readInt32LE(at);
    case KIND.double:
    case KIND.date:
    case KIND.int64:
    case KIND.timestamp:
      return 8;
    case KIND.boolean:
      return 1;
    case KIND.int32:
      return 4;
    case KIND.objectId:
      return 12;
    case KIND.decimal128:
      return 16;
    case KIND.null:
    case KIND.undefined:
      return 0;
    case KIND.binary:
      return 5 + bytes.readInt32LE(at);
    case KIND.regex:
      return nameEnd(bytes, nameEnd(bytes, at) + 1) + 1 - at;
    default:
      throw new Error(`BSON kind ${kind} is none of ours`);
  }
}

/** Node's own slices, without the look-up of an encoding's name; Buffer has them, its types don't tell. */
export type Bytes = Buffer & Record<'latin1Slice' | 'utf8Slice' | 'hexSlice', (start: number, end: number) => string>;

/** The bytes of a document as a Buffer over the same memory. */
export const asBytes = (raw: Uint8Array): Bytes =>
  (Buffer.isBuffer(raw) ? raw : Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)) as Bytes;

/** The text of a BSON string. */
export const stringAt = (bytes: Bytes, at: number): string => bytes.utf8Slice(at + 4, at + 3 + bytes.readInt32LE(at));

/** A signed 64-bit number, exact: a bigint where a double would not hold it. */
export function int64At(bytes: Bytes, at: number): number | bigint {
  const high = bytes.readInt32LE(at + 4);
  const value = high * 0x1_0000_0000 + bytes.readUInt32LE(at);
  return Number.isSafeInteger(value) ? value : bytes.readBigInt64LE(at);
}
