// Binary: bytes as a value of a running program. Outside it they are a base64 String.
import { toBase64, toHex } from './bytes.ts';
import { LocalValue, type Value } from './kinds.ts';

export class Binary extends LocalValue {
  readonly typeName = 'Binary';
  readonly bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    super();
    this.bytes = bytes;
  }
  override text(): string {
    return toHex(this.bytes);
  }
  override data(): Value {
    return toBase64(this.bytes);
  }
  override same(other: Value): boolean {
    return other instanceof Binary && other.bytes.length === this.bytes.length && this.bytes.every((byte, i) => byte === other.bytes[i]);
  }
}
