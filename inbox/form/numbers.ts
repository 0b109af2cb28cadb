// Numbers as people write them: with the digits of their script, with a point or a comma.
import { exact } from './json.ts';

/** The zeros of the scripts whose digits are taken beside ours: Arabic, Persian, Devanagari, Bengali, wide ones. */
const ZEROS = [0x0660, 0x06f0, 0x0966, 0x09e6, 0xff10];
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const INTEGER = /^[+-]?\d+$/;
/** A comma that may be meant to part thousands: `1,234` is a thousand times as much to one reader as to another. */
const THOUSANDS = /^[+-]?[1-9]\d{0,2}(?:,\d{3})+$/;

const plainDigit = (digit: string): string => {
  const code = digit.codePointAt(0) as number;
  const zero = ZEROS.find((one) => code >= one && code < one + 10);
  return zero === undefined ? digit : String(code - zero);
};

/**
 * @param language of the person, as the browser tells it: whether its numbers have commas between thousands
 * @returns an integer with all its digits; null: it is no number, or may be one of two
 */
export function numberIn(text: string, language: string): number | bigint | null {
  const plain = text
    .replaceAll(/[\u200e\u200f\u061c]/g, '') // marks of direction
    .replaceAll('\u2212', '-')
    .replaceAll('\u066b', '.')
    .replaceAll(/\p{Nd}/gu, plainDigit)
    .trim();
  if (THOUSANDS.test(plain) && partsThousandsByComma(language)) return null;
  const withPoint = plain.replace(',', '.');
  return INTEGER.test(withPoint) ? exact(withPoint.replace('+', '')) : NUMBER.test(withPoint) ? Number(withPoint) : null;
}

const partsThousandsByComma = (language: string): boolean =>
  new Intl.NumberFormat(language, { numberingSystem: 'latn' })
    .formatToParts(12_345)
    .some(({ type, value }) => type === 'group' && value === ',');
