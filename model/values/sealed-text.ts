// Texts that may hold what an encrypted property holds, on their way into the store and back: journal rows, kept answers, dead letters,
// recordings. In a namespace with a key they are sealed as a whole, since nobody knows where in them such a value stands.

import type { Cipher } from './cipher.ts';

/** No inner JSON begins with it; what was stored before there was a key is read as it is. */
const SEALED = '\u0002';

/** @param cipher null: the namespace has no key, and nothing to hide; @param place the name that only this text opens under */
export const sealText = (cipher: Cipher | null, text: string, place: string): string =>
  cipher ? `${SEALED}${Buffer.from(cipher.seal(text, place)).toString('base64')}` : text;

/** @throws Error for what was sealed under another key or place */
export function openText(cipher: Cipher | null, text: string, place: string): string {
  if (!text.startsWith(SEALED)) return text;
  if (!cipher) throw new Error(`no cipher for a sealed text of ${place}`);
  return cipher.open(Buffer.from(text.slice(SEALED.length), 'base64'), place);
}
