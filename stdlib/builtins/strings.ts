// String built-ins (builtins.md 2). Those with patterns are in patterns.ts.
import { fail } from '../errors.ts';
import { LocalValue, originalOf, text, type Value } from '../values/index.ts';
import type { Declaration } from './declaration.ts';
import { made, refuseLength, turnsOf } from './growth.ts';
import { firstIndex, lastIndex, searchTurns } from './text-search.ts';

const LETTERS = /^[a-zA-Z]+$/;
const LETTERS_AND_DIGITS = /^[a-zA-Z0-9]+$/;
const HEXADECIMAL = /^[0-9a-fA-F]+$/;
const NAME = /^[a-zA-Z0-9$_-]*$/;
const DIGITS = /^[0-9]+$/;
const REAL = /^(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)$/;

/** Of a built-in that reads a text once. */
const reading = (str: string): number => str.length / 32;

const isSequence = (value: Value): boolean => value instanceof LocalValue && value.typeName === 'Sequence';

/** Unicode's white space, and the byte order mark. */
const isBlank = (unit: number): boolean =>
  unit === 0x20 || (unit >= 9 && unit <= 13) || unit === 0x85 || (unit >= 0xa0 && String.fromCharCode(unit).trim() === '');

function trimmed(str: string, left: boolean, right: boolean): string {
  let start = 0;
  let end = str.length;
  while (left && start < end && isBlank(str.charCodeAt(start))) start++;
  while (right && end > start && isBlank(str.charCodeAt(end - 1))) end--;
  return str.slice(start, end);
}

/** Some letters are the same in lower case only (ẞ and ß), others by way of the upper one (ς and σ). */
function isSameInAnyCase(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase() || a.toUpperCase().toLowerCase() === b.toUpperCase().toLowerCase();
}

/** `begin` and `end` of a slice in a text or List of `size`: negative ones count from the end, both are clamped. */
export function sliceBounds(size: number, begin: number, end: number | null): [begin: number, end: number] {
  const place = (n: number): number => (n < 0 ? Math.max(0, size + n) : Math.min(n, size));
  return [place(begin), place(end ?? size)];
}

export const strings: readonly Declaration[] = [
  {
    call: 'concat(str: String, …s1: any|null) => String',
    forms: 'FM',
    about: 'Joins the texts of all arguments.',
    errors: ['cascade.lang.range'],
    run: (context, str: string, others: Value[]) => {
      let result = str;
      for (const other of others) {
        context.spend(turnsOf(other));
        refuseLength((result += text(isSequence(originalOf(other)) ? originalOf(other) : other)).length);
      }
      return made(context, result);
    },
  },
  {
    call: 'contains(str: String, substr: String) => Boolean',
    forms: 'FM',
    about: 'Whether substr stands somewhere in str.',
    turns: searchTurns,
    run: (context, str: string, substr: string) => firstIndex(context, str, substr) >= 0,
  },
  {
    call: 'includes(str: String, substr: String) => Boolean',
    forms: 'FM',
    about: 'Whether substr stands somewhere in str.',
    turns: searchTurns,
    run: (context, str: string, substr: string) => firstIndex(context, str, substr) >= 0,
  },
  {
    call: 'endsWith(str: String, substr: String) => Boolean',
    forms: 'FM',
    about: 'Whether str ends with substr.',
    run: (_, str: string, substr: string) => str.endsWith(substr),
  },
  {
    call: 'startsWith(str: String, substr: String) => Boolean',
    forms: 'FM',
    about: 'Whether str begins with substr.',
    run: (_, str: string, substr: string) => str.startsWith(substr),
  },
  {
    call: 'equals(str: String, other: any|null) => Boolean',
    forms: 'M',
    about: 'Whether other is the same String; false for another type.',
    run: (_, str: string, other: Value) => str === other,
  },
  {
    call: 'equalsIgnoreCase(str: String, other: String|null) => Boolean',
    forms: 'M',
    about: 'Whether other is the same String but for case.',
    turns: reading,
    run: (_, str: string, other: string | null) => other !== null && isSameInAnyCase(str, other),
  },
  {
    call: 'indexOf(str: String, substr: String) => Integer',
    forms: 'FM',
    about: 'The first position of substr, or -1.',
    turns: searchTurns,
    run: firstIndex,
  },
  {
    call: 'lastIndexOf(str: String, substr: String) => Integer',
    forms: 'FM',
    about: 'The last position of substr, or -1.',
    turns: searchTurns,
    run: lastIndex,
  },
  {
    call: 'length(str: String) => Integer',
    forms: 'FM',
    about: 'The number of UTF-16 code units.',
    run: (_, str: string) => str.length,
  },
  {
    call: 'size(str: String) => Integer',
    forms: 'FM',
    about: 'The number of UTF-16 code units.',
    run: (_, str: string) => str.length,
  },
  {
    call: 'isEmpty(str: String) => Boolean',
    forms: 'M',
    about: 'Whether the length is 0.',
    run: (_, str: string) => str === '',
  },
  {
    call: 'charAt(str: String, index: Integer) => String',
    forms: 'FM',
    about: 'One code unit; outside: index error.',
    errors: ['cascade.lang.index'],
    run: (_, str: string, index: number) =>
      index >= 0 && index < str.length ? str.charAt(index) : fail('cascade.lang.index', index, str.length),
  },
  {
    call: 'repeat(str: String, count: Integer) => String',
    forms: 'FM',
    about: 'str count times.',
    errors: ['cascade.lang.range'],
    run: (context, str: string, count: number) => {
      if (count < 0) fail('cascade.lang.range', 'count', count);
      refuseLength(str.length * count);
      return made(context, str.length === 0 ? '' : str.repeat(count));
    },
  },
  {
    call: 'slice(str: String, start: Integer, end?: Integer) => String',
    forms: 'FM',
    about: 'From start up to end, which is not included; negative positions count from the end.',
    run: (context, str: string, start: number, end: number | null) => made(context, str.slice(...sliceBounds(str.length, start, end))),
  },
  {
    call: 'substring(str: String, begin: Integer, end?: Integer) => String',
    forms: 'FM',
    about: 'Between two positions, in either order, each clamped to the text.',
    run: (context, str: string, begin: number, end: number | null) => made(context, str.substring(begin, end ?? str.length)),
  },
  {
    call: 'substr(str: String, begin: Integer, length?: Integer) => String',
    forms: 'FM',
    about: 'length characters from begin; outside the text: index error.',
    errors: ['cascade.lang.index'],
    run: (context, str: string, begin: number, length: number | null) => {
      if (begin < 0 || begin > str.length) fail('cascade.lang.index', begin, str.length);
      const end = begin + (length ?? str.length - begin);
      if (end < begin || end > str.length) fail('cascade.lang.index', end, str.length);
      return made(context, str.slice(begin, end));
    },
  },
  {
    call: 'toLowerCase(str: String) => String',
    forms: 'FM',
    about: 'Lower case, whatever the locale.',
    run: (context, str: string) => made(context, str.toLowerCase()),
  },
  {
    call: 'toUpperCase(str: String) => String',
    forms: 'FM',
    about: 'Upper case, whatever the locale.',
    run: (context, str: string) => made(context, str.toUpperCase()),
  },
  {
    call: 'trim(str: String) => String',
    forms: 'FM',
    about: 'Without white space at both ends.',
    turns: reading,
    run: (_, str: string) => trimmed(str, true, true),
  },
  {
    call: 'trimLeft(str: String) => String',
    forms: 'FM',
    about: 'Without white space in front.',
    turns: reading,
    run: (_, str: string) => trimmed(str, true, false),
  },
  {
    call: 'trimRight(str: String) => String',
    forms: 'FM',
    about: 'Without white space at the end.',
    turns: reading,
    run: (_, str: string) => trimmed(str, false, true),
  },
  {
    call: 'whitespaceTo(str: String, char: String) => String',
    forms: 'FM',
    about: 'Every white-space character becomes char, which has length 1.',
    errors: ['cascade.lang.range'],
    turns: (str: string) => str.length,
    run: (context, str: string, char: string) => {
      if (char.length !== 1) fail('cascade.lang.range', 'char', char);
      return made(
        context,
        str.replace(/[\s\u0085]/g, () => char),
      );
    },
  },
  {
    call: 'isAlpha(str: String) => Boolean',
    forms: 'FM',
    about: 'Only a-z and A-Z, at least one.',
    turns: reading,
    run: (_, str: string) => LETTERS.test(str),
  },
  {
    call: 'isAlphaNumeric(str: String) => Boolean',
    forms: 'FM',
    about: 'Only a-z, A-Z and 0-9, at least one.',
    turns: reading,
    run: (_, str: string) => LETTERS_AND_DIGITS.test(str),
  },
  {
    call: 'isHexadecimal(str: String) => Boolean',
    forms: 'FM',
    about: 'Only 0-9, a-f and A-F, at least one.',
    turns: reading,
    run: (_, str: string) => HEXADECIMAL.test(str),
  },
  {
    call: 'isName(str: String) => Boolean',
    forms: 'FM',
    about: 'Only letters, digits, $, _ and -.',
    turns: reading,
    run: (_, str: string) => NAME.test(str),
  },
  {
    call: 'isNumeric(str: String) => Boolean',
    forms: 'FM',
    about: 'Only 0-9, at least one.',
    turns: reading,
    run: (_, str: string) => DIGITS.test(str),
  },
  {
    call: 'isReal(str: String) => Boolean',
    forms: 'FM',
    about: 'Digits with at most one point; no sign, no exponent.',
    turns: reading,
    run: (_, str: string) => REAL.test(str),
  },
  {
    call: 'toString(v: any|null) => String',
    forms: 'FM',
    about: 'The text of any value.',
    contents: true,
    errors: ['cascade.lang.range'],
    turns: turnsOf,
    run: (context, v: Value) => made(context, text(v)),
  },
];
