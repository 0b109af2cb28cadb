// The inside of String literals (language.md 1.1): escapes, and a backslash that stays where it begins none.
import type { Diagnostics } from '../diagnostics.ts';

const SIMPLE: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  s: ' ',
  '\\': '\\',
  '"': '"',
  "'": "'",
};
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|([\s\S]))/g;

/** `start` is the offset of the first character of `raw` in the text. */
export function unescape(raw: string, start: number, found: Diagnostics): string {
  if (!raw.includes('\\')) return raw;
  return raw.replace(ESCAPE, (whole: string, hex: string | undefined, letter: string | undefined, at: number) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    if (letter === 'u') {
      const place = { start: start + at, end: start + at + 2 };
      found.report(place, 'cascade.lang.syntax', '\\u needs exactly 4 hexadecimal digits', 'for a plain backslash write \\\\');
    }
    return SIMPLE[letter ?? ''] ?? whole;
  });
}
