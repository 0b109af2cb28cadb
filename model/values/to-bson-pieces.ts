// Long values to BSON in pieces, straight to bytes: the objects that the driver knows values by would take several times their memory.
import { BSON, type Document } from 'mongodb';
import { isObject, type ObjectValue, Real, type Value } from '../../stdlib/values/index.ts';
import { type BaseType, type InPieces, isLong, runsOf, type TypeDefinition } from '../types/index.ts';
import { KIND } from './bson-bytes.ts';
import { escapeKey } from './keys.ts';
import { StoredBytes } from './stored-bytes.ts';
import { instanceToBson, propertyToBson } from './to-bson.ts';

const FIRST_BYTES = 64 * 1024;
const TWO_TO_32 = 2 ** 32;
const MOST_BYTES_OF_A_CHARACTER = 3;

/** The stored document as `instanceToBson` makes it, with long values as bytes. */
export function* instanceToBsonInPieces(type: TypeDefinition, instance: ObjectValue): InPieces<Document> {
  const short: ObjectValue = {};
  const bytes = new Map<string, StoredBytes>();
  for (const name of Object.keys(instance)) {
    const value = instance[name] as Value;
    const property = type.properties.get(name);
    const isBytes = property !== undefined && !property.encrypted && isLong(value);
    short[name] = isBytes ? null : value; // keeps its place
    if (isBytes) bytes.set(name, yield* valueToBytes(property.base, value as Value[] | ObjectValue));
  }
  const document = instanceToBson(type, short);
  for (const [name, value] of bytes) document[name] = value;
  return document;
}

/** @param base of the property; elements of a multi property have it, too */
export function* valueToBytes(base: BaseType, value: readonly Value[] | ObjectValue): InPieces<StoredBytes> {
  const out = new Out();
  yield* content(out, base, value);
  return new StoredBytes(Array.isArray(value) ? KIND.array : KIND.document, out.written);
}

function* content(out: Out, base: BaseType, value: readonly Value[] | ObjectValue): InPieces<void> {
  const begin = out.begin();
  if (Array.isArray(value)) {
    for (const run of runsOf(value.length, (index) => value[index] as Value)) {
      if (run.isDivisible) yield* element(out, String(run.from), base, value[run.from] as Value[] | ObjectValue);
      else for (let index = run.from; index < run.to; index++) put(out, String(index), base, value[index] as Value);
      yield;
    }
  } else {
    const object = value as ObjectValue;
    const names = Object.keys(object);
    for (const run of runsOf(names.length, (index) => object[names[index] as string])) {
      for (let index = run.from; index < run.to; index++) {
        const name = names[index] as string;
        if (run.isDivisible) yield* element(out, escapeKey(name), 'Object', object[name] as Value[] | ObjectValue);
        else put(out, escapeKey(name), 'Object', object[name]);
      }
      yield;
    }
  }
  out.end(begin);
}

function* element(out: Out, name: string, base: BaseType, value: readonly Value[] | ObjectValue): InPieces<void> {
  out.name(Array.isArray(value) ? KIND.array : KIND.document, name);
  yield* content(out, Array.isArray(value) ? base : 'Object', value);
}

/** A short value: as `propertyToBson` and the driver's writer together. */
function put(out: Out, name: string, base: BaseType, value: Value | undefined): void {
  if (typeof value === 'number' && (base === 'Real' || !Number.isInteger(value))) return out.double(name, value);
  if (typeof value === 'number' && Number.isSafeInteger(value)) return out.long(name, value);
  if (typeof value === 'string') return out.text(name, value);
  if (typeof value === 'boolean') return out.boolean(name, value);
  if (value === null || value === undefined) return out.name(KIND.null, name);
  if (value instanceof Real) return out.double(name, value.value);
  if (Array.isArray(value) || isObject(value)) {
    out.name(Array.isArray(value) ? KIND.array : KIND.document, name);
    const begin = out.begin();
    if (Array.isArray(value)) for (let index = 0; index < value.length; index++) put(out, String(index), base, value[index]);
    else for (const member of Object.keys(value)) put(out, escapeKey(member), 'Object', value[member]);
    return out.end(begin);
  }
  const alone = BSON.serialize({ v: propertyToBson(base, value) }); // size, kind, `v`, and the zeros behind the name and at the end
  out.name(alone[4] as number, name);
  out.append(alone.subarray(7, -1));
}

/** Bytes that grow. */
class Out {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #at = 0;

  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  /** Of a document or array: what `end` is to be given. */
  begin(): number {
    this.#need(4);
    this.#at += 4;
    return this.#at - 4;
  }

  end(begin: number): void {
    this.#need(1);
    this.#bytes[this.#at++] = 0;
    this.#bytes.writeInt32LE(this.#at - begin, begin);
  }

  /** The kind and name of an element, with room for a short value. */
  name(kind: number, name: string): void {
    this.#need(2 + MOST_BYTES_OF_A_CHARACTER * name.length + 8);
    this.#bytes[this.#at++] = kind;
    this.#characters(name);
    this.#bytes[this.#at++] = 0;
  }

  long(name: string, value: number): void {
    this.name(KIND.int64, name);
    const high = Math.floor(value / TWO_TO_32);
    this.#at = this.#bytes.writeInt32LE((value - high * TWO_TO_32) | 0, this.#at);
    this.#at = this.#bytes.writeInt32LE(high | 0, this.#at);
  }

  double(name: string, value: number): void {
    this.name(KIND.double, name);
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  boolean(name: string, value: boolean): void {
    this.name(KIND.boolean, name);
    this.#bytes[this.#at++] = value ? 1 : 0;
  }

  text(name: string, value: string): void {
    this.name(KIND.string, name);
    this.#need(5 + MOST_BYTES_OF_A_CHARACTER * value.length);
    const begin = this.#at;
    this.#at += 4;
    this.#characters(value);
    this.#bytes[this.#at++] = 0;
    this.#bytes.writeInt32LE(this.#at - begin - 4, begin);
  }

  append(bytes: Uint8Array): void {
    this.#need(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** Short ones by hand: a call out costs more. */
  #characters(text: string): void {
    let at = this.#at;
    let index = 0;
    if (text.length <= 40)
      for (; index < text.length; index++) {
        const code = text.charCodeAt(index);
        if (code >= 0x80) break;
        this.#bytes[at++] = code;
      }
    if (index < text.length) at = this.#at + this.#bytes.write(text, this.#at, 'utf8');
    this.#at = at;
  }

  #need(count: number): void {
    if (this.#at + count <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#at + count));
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
  }
}
