// The version of a stored instance, read from its bytes where nothing else of it is wanted as a value.
import { asBytes, int64At, KIND, nameEnd, sizeOf } from './bson-bytes.ts';

const NAME = Buffer.from('ars_version');

/** 0 where the document has none. */
export function storedVersion(raw: Uint8Array): bigint {
  const bytes = asBytes(raw);
  for (let at = 4; bytes[at] !== 0; ) {
    const kind = bytes[at] as number;
    const end = nameEnd(bytes, at + 1);
    if (end - at - 1 === NAME.length && bytes.compare(NAME, 0, NAME.length, at + 1, end) === 0)
      return kind === KIND.int64 ? BigInt(int64At(bytes, end + 1)) : 0n;
    at = end + 1 + sizeOf(kind, bytes, end + 1);
  }
  return 0n;
}
