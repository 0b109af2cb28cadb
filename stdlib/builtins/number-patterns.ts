// Number patterns such as `#,##0.00;(#)` (builtins.md 3.2): read once, then printed with exact rounding.
import { fail } from '../errors.ts';
import { isInteger, isNumber, numberOf, withoutTrailing } from '../values/index.ts';
import { type Exact, exactOf, roundHalfEven } from './exact-decimal.ts';

export interface NumberPattern {
  readonly prefix: string;
  readonly suffix: string;
  readonly negativePrefix: string;
  readonly negativeSuffix: string;
  /** Powers of ten that a `%` or `‰` multiplies by: 0, 2 or 3. */
  readonly shift: number;
  readonly leastInteger: number;
  /** Digit places before the point, `#` included; only scientific notation needs it. */
  readonly mostInteger: number;
  readonly leastFraction: number;
  readonly mostFraction: number;
  /** The decimal point stands even where no digit follows: `0.` and `.#`. */
  readonly pointAlways: boolean;
  /** 0: no grouping. */
  readonly grouping: number;
  /** Least digits of the exponent; 0: plain notation. */
  readonly exponentDigits: number;
}

interface Affix {
  text: string;
  shift: number;
  end: number;
}

/** Other patterns than `positive[;negative]` are a pattern error. */
export function parseNumberPattern(pattern: string): NumberPattern {
  const prefix = readAffix(pattern, 0, true);
  const number = readNumber(pattern, prefix.end);
  const suffix = readAffix(pattern, number.end, false);
  const shift = Math.max(prefix.shift, suffix.shift);
  const positive = { ...number, shift, prefix: prefix.text, suffix: suffix.text };
  const byDefault = { ...positive, negativePrefix: `-${prefix.text}`, negativeSuffix: suffix.text };
  if (suffix.end === pattern.length) return byDefault;
  const negativePrefix = readAffix(pattern, suffix.end + 1, true);
  const negativeSuffix = readAffix(pattern, readNumber(pattern, negativePrefix.end).end, false);
  if (negativeSuffix.end < pattern.length) fail('cascade.builtin.pattern', pattern, negativeSuffix.end);
  if (negativePrefix.text === prefix.text && negativeSuffix.text === suffix.text) return byDefault;
  return { ...positive, negativePrefix: negativePrefix.text, negativeSuffix: negativeSuffix.text };
}

/** Text up to the number part (`isPrefix`), or up to `;` or the end. */
function readAffix(pattern: string, start: number, isPrefix: boolean): Affix {
  let text = '';
  let shift = 0;
  let quoted = false;
  let i = start;
  for (; i < pattern.length; i++) {
    const char = pattern[i] as string;
    if (char === "'") {
      if (pattern[i + 1] === "'") {
        text += "'";
        i++;
      } else quoted = !quoted;
    } else if (quoted) text += char;
    else if ('#0,.'.includes(char)) {
      if (isPrefix) break;
      return fail('cascade.builtin.pattern', pattern, i);
    } else if (char === ';') {
      if (isPrefix) fail('cascade.builtin.pattern', pattern, i); // a sub-pattern has a number part
      break;
    } else {
      if (char === '%') shift = 2;
      if (char === '‰') shift = 3;
      text += char === '¤' ? '$' : char;
    }
  }
  return { text, shift, end: i };
}

function readNumber(pattern: string, start: number) {
  const part = /^([#,0]*)(\.[#0,.]*)?(E0*)?/.exec(pattern.slice(start)) as RegExpExecArray;
  const [whole, integer = '', fractionPart = '', exponent = ''] = part;
  const refuse = (at: number): never => fail('cascade.builtin.pattern', pattern, start + at);
  const places = integer.replaceAll(',', '');
  const fraction = fractionPart.slice(1);
  if (!/^#*0*$/.test(places)) refuse(integer.lastIndexOf('#'));
  if (!/^0*#*$/.test(fraction)) refuse(integer.length + 1 + Math.max(fraction.search(/[.,]/), 0));
  if (exponent === 'E' || (exponent !== '' && (integer.includes(',') || places + fraction === '')))
    refuse(integer.length + fractionPart.length);
  const comma = integer.lastIndexOf(',');
  if (comma >= 0 && comma === integer.length - 1) refuse(comma);
  let leastInteger = places.length - places.indexOf('0');
  if (!places.includes('0')) leastInteger = 0;
  let leastFraction = fraction.lastIndexOf('0') + 1;
  if (fractionPart !== '' && leastInteger === 0 && leastFraction === 0) {
    if (places === '') leastFraction = Math.min(1, fraction.length);
    else leastInteger = 1; // `#.##` prints 0.5 with its zero
  }
  return {
    leastInteger,
    mostInteger: places.length,
    leastFraction,
    mostFraction: fraction.length,
    pointAlways: fractionPart !== '' && (places === '' || fraction === ''),
    grouping: comma < 0 ? 0 : integer.length - 1 - comma,
    exponentDigits: Math.max(0, exponent.length - 1),
    end: start + whole.length,
  };
}

/**
 * The number in the pattern, rounded HALF_EVEN; a negative one that rounds to zero keeps its sign. A Real is multiplied for `%` and `‰` as
 * Reals are, so that 0.005 is half a percent and nothing more.
 */
export function formatByNumberPattern(value: Parameters<typeof exactOf>[0], pattern: NumberPattern): string {
  const product = pattern.shift > 0 && !isInteger(value) && isNumber(value) ? numberOf(value) * 10 ** pattern.shift : null;
  // A product beyond all Reals is that of the digits.
  const isMultiplied = product !== null && Number.isFinite(product);
  const exact = exactOf(isMultiplied ? product : value);
  const shifted = isMultiplied ? exact : { ...exact, scale: exact.scale - pattern.shift };
  const body = pattern.exponentDigits > 0 ? scientific(shifted, pattern) : plain(shifted, pattern);
  return withSign(body, exact.negative, pattern);
}

export function withSign(body: string, negative: boolean, pattern: NumberPattern): string {
  return negative ? pattern.negativePrefix + body + pattern.negativeSuffix : pattern.prefix + body + pattern.suffix;
}

function plain(value: Exact, { leastInteger, leastFraction, mostFraction, pointAlways, grouping }: NumberPattern): string {
  const rounded = roundHalfEven(value, mostFraction)
    .toString()
    .padStart(mostFraction + 1, '0');
  const point = rounded.length - mostFraction;
  let fraction = rounded.slice(point);
  while (fraction.length > leastFraction && fraction.endsWith('0')) fraction = fraction.slice(0, -1);
  let integer = rounded.slice(0, point).replace(/^0+/, '').padStart(leastInteger, '0');
  if (integer === '' && fraction === '') integer = '0';
  if (grouping > 0) integer = inGroups(integer, grouping);
  return fraction === '' && !pointAlways ? integer : `${integer}.${fraction}`;
}

function inGroups(digits: string, size: number): string {
  const first = digits.length % size || Math.min(size, digits.length);
  let result = digits.slice(0, first);
  for (let i = first; i < digits.length; i += size) result += `,${digits.slice(i, i + size)}`;
  return result;
}

function scientific(value: Exact, pattern: NumberPattern): string {
  const { leastInteger, mostInteger, leastFraction, mostFraction, pointAlways, exponentDigits } = pattern;
  const engineering = mostInteger > 1 && mostInteger > leastInteger;
  const magnitude = (n: bigint): number => n.toString().length - value.scale; // value = 0.ddd * 10 ** magnitude
  let pointAt = value.digits === 0n ? 0 : magnitude(value.digits);
  let digits = '0';
  if (value.digits !== 0n) {
    const scale = mostInteger + mostFraction - pointAt;
    const rounded = roundHalfEven(value, scale).toString();
    pointAt = rounded.length - scale;
    digits = withoutTrailing(rounded, '0');
  }
  let exponent = 0;
  if (value.digits !== 0n) exponent = engineering ? Math.floor((pointAt - 1) / mostInteger) * mostInteger : pointAt - leastInteger;
  const integerDigits = value.digits === 0n ? Math.max(1, leastInteger) : pointAt - exponent;
  const least = Math.max(integerDigits, (engineering ? 1 : leastInteger) + leastFraction);
  const all = digits.padEnd(least, '0');
  const fraction = all.slice(integerDigits);
  const size = String(Math.abs(exponent)).padStart(exponentDigits, '0');
  return `${all.slice(0, integerDigits)}${fraction === '' && !pointAlways ? '' : `.${fraction}`}E${exponent < 0 ? '-' : ''}${size}`;
}
