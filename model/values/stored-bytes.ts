// A long value in the form of BSON before its document is: `BsonWriter` takes the bytes as they are.
import { BSON } from 'mongodb';

export class StoredBytes {
  readonly kind: number;
  readonly bytes: Uint8Array;

  constructor(kind: number, bytes: Uint8Array) {
    this.kind = kind;
    this.bytes = bytes;
  }

  /** For the driver's own writer: the same value as it knows it, with kinds of numbers kept. */
  toBSON(): unknown {
    const size = 4 + 3 + this.bytes.length + 1;
    const document = Buffer.alloc(size);
    document.writeInt32LE(size, 0);
    document[4] = this.kind;
    document[5] = 118; // its name is `v`
    document.set(this.bytes, 7);
    return BSON.deserialize(document, { promoteValues: false })['v'];
  }
}
