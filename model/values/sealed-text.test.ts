// What is sealed opens only with its cipher, for its purpose and id; what was stored before there was a key reads as it is.
import { expect, test } from 'vitest';
import type { Cipher } from '../types/index.ts';
import { openText, sealText } from './sealed-text.ts';

/** Keeps what the text was sealed for beside it, and turns all of it round. */
const cipher: Cipher = {
  seal: (inner, place, purpose = '') => Buffer.from(`${purpose}/${place}/${inner}`).reverse(),
  open(sealed, place, purpose = '') {
    const text = Buffer.from(sealed).reverse().toString();
    const head = `${purpose}/${place}/`;
    if (!text.startsWith(head)) throw new Error('sealed otherwise');
    return text.slice(head.length);
  },
};

test('a sealed text opens under its purpose and id alone', () => {
  const sealed = sealText(cipher, '{"secret":"ä"}', 'journal', 'run 1');
  expect(sealed).not.toContain('secret');
  expect(openText(cipher, sealed, 'journal', 'run 1')).toBe('{"secret":"ä"}');
  expect(() => openText(cipher, sealed, 'journal', 'run 2')).toThrow();
  expect(() => openText(cipher, sealed, 'answers', 'run 1')).toThrow();
});

test('without a key a text is stored as it is, and is still read once there is one', () => {
  expect(sealText(null, '{"a":1}', 'journal', 'run 1')).toBe('{"a":1}');
  for (const one of [null, cipher]) expect(openText(one, '{"a":1}', 'journal', 'run 1')).toBe('{"a":1}');
});

test('a sealed text is not taken for a plain one when the key is gone', () => {
  const sealed = sealText(cipher, '{"a":1}', 'journal', 'run 1');
  expect(() => openText(null, sealed, 'journal', 'run 1')).toThrow();
});
