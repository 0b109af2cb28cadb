// JSON with the digits of its integers: JavaScript's own reads them as doubles, and the service's go to 64 bits. Those beyond 2^53 are bigints.
import { newUuid } from '../store/uuid.ts';
import type { Json } from './types.ts';

const LONG = /\d{16}/;
/** A text, or a number without point and exponent that a double may not hold. */
const TEXT_OR_LONG = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d{16,}(?![\d.eE])/g;

/** @throws SyntaxError */
export function readJson(text: string): Json {
  if (!LONG.test(text)) return JSON.parse(text) as Json;
  const mark = newUuid();
  const marked = text.replace(TEXT_OR_LONG, (found, at: number) =>
    found.startsWith('"') || /[\d.]/.test(text[at - 1] ?? '') ? found : `"${mark}${found}"`,
  );
  return JSON.parse(marked, (_name, value: Json) =>
    typeof value === 'string' && value.startsWith(mark) ? exact(value.slice(mark.length)) : value,
  ) as Json;
}

export function writeJson(value: Json, indent = 0): string {
  const mark = newUuid();
  let isLong = false;
  const marked = (_name: string, one: Json): Json => {
    if (typeof one !== 'bigint') return one;
    isLong = true;
    return `${mark}${one}`;
  };
  const text = JSON.stringify(value, marked, indent);
  if (!isLong) return text;
  return text.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1');
}

/** An integer that is a number where a double holds it. @param digits with or without a sign */
export function exact(digits: string): number | bigint {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : BigInt(digits);
}
