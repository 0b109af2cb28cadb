// Texts that may hold what an encrypted property holds, on their way into the store and back: journal rows, kept answers, dead letters,
// recordings. In a namespace with a key they are sealed as a whole, since nobody knows where in them such a value stands.

import type { Cipher } from '../types/index.ts';

/** No inner JSON begins with it; what was stored before there was a key is read as it is. */
const SEALED = '\u0002';

/** @param cipher null: the namespace has no key, and nothing to hide; @param id whose text of this purpose it is: it opens under that only */
export const sealText = (cipher: Cipher | null, text: string, purpose: string, id: string): string =>
  cipher ? `${SEALED}${Buffer.from(cipher.seal(text, id, purpose)).toString('base64')}` : text;

/** @throws Error for what was sealed under another key, for another purpose or id */
export function openText(cipher: Cipher | null, text: string, purpose: string, id: string): string {
  if (!text.startsWith(SEALED)) return text;
  if (!cipher) throw new Error(`no cipher for a sealed text of ${purpose}`);
  return cipher.open(Buffer.from(text.slice(SEALED.length), 'base64'), id, purpose);
}
