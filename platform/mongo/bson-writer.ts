// Documents to BSON bytes: a loop over what instances are made of. The driver's serializer looks at each value in every way there is; a
// batch of a thousand documents spends more time there than in all else that the driver does. What this one does not know it leaves to the
// driver's.

import { BSON, Decimal128, type Document, Double, Long, ObjectId } from 'mongodb';
import { StoredBytes } from '../../model/values/index.ts';

const KIND = { double: 1, string: 2, document: 3, array: 4, objectId: 7, boolean: 8, date: 9, null: 10, int32: 16, long: 18, decimal: 19 };
/** Several writes go into one slab: one for each short insert made a third of all memory that has the collector look at the whole heap. */
const SLAB_BYTES = 64 * 1024;
/** What is left of a slab must be so much, or another one is begun. */
const LEAST_BYTES = 4 * 1024;
/** Up to so many characters a text is copied by hand; a call out costs more. */
const SHORT = 40;
const MOST_BYTES_OF_A_CHARACTER = 3;
/** Names of a generation: they are kept with their bytes; the names of Objects are users' and many. */
const MOST_NAMES = 2_500;
/** Of the index of an array. */
const MOST_DIGITS = 10;
const TWO_TO_32 = 2 ** 32;

/** Something that the driver's serializer has to write, or refuse. */
class Unknown extends Error {}

export class BsonWriter {
  #bytes = Buffer.allocUnsafe(SLAB_BYTES);
  /** What is before it has been given away. */
  #from = 0;
  #at = 0;
  #names = new Map<string, Uint8Array>();
  /** Those that were kept before them: who is not used any more goes with the whole generation, which costs nothing each. */
  #olderNames = new Map<string, Uint8Array>();

  /** The documents, one after the other. The bytes are the caller's: they are not used again. */
  write(documents: readonly Document[]): Uint8Array {
    if (this.#bytes.length > SLAB_BYTES || this.#bytes.length - this.#from < LEAST_BYTES) {
      this.#bytes = Buffer.allocUnsafe(SLAB_BYTES);
      this.#from = 0;
    }
    this.#at = this.#from;
    for (const document of documents) {
      const begin = this.#at;
      try {
        this.#members(document);
      } catch (error) {
        if (!(error instanceof Unknown)) throw error;
        this.#at = begin;
        this.#append(BSON.serialize(document, { ignoreUndefined: false }));
      }
    }
    const written = this.#bytes.subarray(this.#from, this.#at);
    this.#from = this.#at;
    return written;
  }

  #members(document: Document): void {
    const begin = this.#at;
    this.#need(5);
    this.#at += 4;
    for (const name in document) this.#element(name, document[name]);
    this.#end(begin);
  }

  #elements(values: readonly unknown[]): void {
    const begin = this.#at;
    this.#need(5);
    this.#at += 4;
    for (let index = 0; index < values.length; index++) this.#element(index, values[index]);
    this.#end(begin);
  }

  #end(begin: number): void {
    this.#need(1);
    this.#bytes[this.#at++] = 0;
    this.#bytes.writeInt32LE(this.#at - begin, begin);
  }

  #element(name: string | number, value: unknown): void {
    switch (typeof value) {
      case 'string':
        this.#begin(KIND.string, name);
        return this.#text(value);
      case 'number':
        return this.#number(name, value);
      case 'boolean':
        this.#begin(KIND.boolean, name);
        this.#bytes[this.#at++] = value ? 1 : 0;
        return;
      case 'undefined':
        return this.#begin(KIND.null, name);
      case 'object':
        return value === null ? this.#begin(KIND.null, name) : this.#object(name, value);
      default:
        throw new Unknown();
    }
  }

  #object(name: string | number, value: object): void {
    if (Array.isArray(value)) {
      this.#begin(KIND.array, name);
      return this.#elements(value);
    }
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype) {
      if ('_bsontype' in value || 'toBSON' in value) throw new Unknown();
      this.#begin(KIND.document, name);
      this.#members(value);
    } else if (prototype === Long.prototype) {
      this.#begin(KIND.long, name);
      this.#int64((value as Long).low, (value as Long).high);
    } else if (prototype === ObjectId.prototype) {
      this.#begin(KIND.objectId, name);
      this.#append((value as ObjectId).id);
    } else if (prototype === Date.prototype) {
      const ms = (value as Date).getTime();
      if (!Number.isSafeInteger(ms)) throw new Unknown();
      const high = Math.floor(ms / TWO_TO_32);
      this.#begin(KIND.date, name);
      this.#int64(ms - high * TWO_TO_32, high);
    } else if (prototype === Double.prototype) {
      this.#begin(KIND.double, name);
      this.#double((value as Double).value);
    } else if (prototype === Decimal128.prototype) {
      this.#begin(KIND.decimal, name);
      this.#append((value as Decimal128).bytes);
    } else if (prototype === StoredBytes.prototype) {
      const { kind, bytes } = value as StoredBytes;
      this.#begin(kind, name);
      this.#append(bytes);
    } else throw new Unknown();
  }

  #number(name: string | number, value: number): void {
    if ((value | 0) === value && !Object.is(value, -0)) {
      this.#begin(KIND.int32, name);
      this.#at = this.#bytes.writeInt32LE(value, this.#at);
    } else {
      this.#begin(KIND.double, name);
      this.#double(value);
    }
  }

  #double(value: number): void {
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  #int64(low: number, high: number): void {
    this.#bytes.writeInt32LE(low | 0, this.#at);
    this.#bytes.writeInt32LE(high | 0, this.#at + 4);
    this.#at += 8;
  }

  #text(text: string): void {
    this.#need(5 + MOST_BYTES_OF_A_CHARACTER * text.length);
    const begin = this.#at + 4;
    const bytes = this.#bytes;
    let at = begin;
    let index = 0;
    if (text.length <= SHORT)
      for (; index < text.length; index++) {
        const code = text.charCodeAt(index);
        if (code >= 0x80) break;
        bytes[at++] = code;
      }
    if (index < text.length) at = begin + bytes.write(text, begin, 'utf8');
    bytes.writeInt32LE(at - begin + 1, this.#at);
    bytes[at++] = 0;
    this.#at = at;
  }

  /** The kind and name of an element, with room for a value of a fixed size. @param name a number: the index of an array's element */
  #begin(kind: number, name: string | number): void {
    if (typeof name === 'number') return this.#beginIndex(kind, name);
    const bytes = this.#names.get(name) ?? this.#bytesOf(name);
    this.#need(bytes.length + 1 + 16);
    this.#bytes[this.#at++] = kind;
    for (let index = 0; index < bytes.length; index++) this.#bytes[this.#at++] = bytes[index] as number;
  }

  /** Indexes are not kept: those of one long array would push out all names. */
  #beginIndex(kind: number, index: number): void {
    this.#need(1 + MOST_DIGITS + 1 + 16);
    const bytes = this.#bytes;
    bytes[this.#at++] = kind;
    let digits = 1;
    for (let power = 10; power <= index; power *= 10) digits++;
    let rest = index;
    for (let at = this.#at + digits - 1; at >= this.#at; at--) {
      bytes[at] = 48 + (rest % 10);
      rest = Math.floor(rest / 10);
    }
    this.#at += digits;
    bytes[this.#at++] = 0;
  }

  #bytesOf(name: string): Uint8Array {
    if (name.includes('\0')) throw new Unknown();
    const bytes = this.#olderNames.get(name) ?? Buffer.from(`${name}\0`);
    if (this.#names.size >= MOST_NAMES) {
      this.#olderNames = this.#names;
      this.#names = new Map();
    }
    this.#names.set(name, bytes);
    return bytes;
  }

  #append(bytes: Uint8Array): void {
    this.#need(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  #need(count: number): void {
    if (this.#at + count <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#at + count));
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
  }
}
