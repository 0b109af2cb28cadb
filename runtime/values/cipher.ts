// How encrypted properties leave and enter the store; the key of the namespace is the business of whoever makes one.

export interface Cipher {
  /** @param inner the value's inner JSON */
  seal(inner: string): Uint8Array;
  open(sealed: Uint8Array): string;
}
