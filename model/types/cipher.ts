// How encrypted properties leave and enter the store; the key of the namespace is the business of whoever makes one.

export interface Cipher {
  /** @param inner the value's inner JSON; @param place what only this opens under: the property; of a text with another purpose, whose it is */
  seal(inner: string, place: string, purpose?: string): Uint8Array;
  /** @throws Error for what was not sealed so */
  open(sealed: Uint8Array, place: string, purpose?: string): string;
}

/** @throws Error when the type has none: nothing is ever stored in the clear in its place */
export function cipherOf({ cipher }: { readonly cipher?: Cipher }, property: string): Cipher {
  if (!cipher) throw new Error(`no cipher for the encrypted property ${property}`);
  return cipher;
}
