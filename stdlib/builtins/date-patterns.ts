// The letters of date patterns (builtins.md 3.3), for writing. Reading by them is in date-parsing.ts. Locale en-US and UTC, always.
import { fail } from '../errors.ts';
import { civilFromDays, DAY_MS, daysFromCivil } from '../values/index.ts';

export type DateToken = { readonly letter: string; readonly count: number } | { readonly literal: string };

export const MONTHS: readonly string[] = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
/** From Monday, as `DoW` counts. */
export const WEEKDAYS: readonly string[] = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
export const ZONE_NAME = 'Coordinated Universal Time';
const LETTERS = 'GyYMLwWDdFEuaHkKhmsSzZX';

/** Splits a pattern into letter runs and literal text; other letters are a pattern error. */
export function parseDatePattern(pattern: string): DateToken[] {
  const tokens: DateToken[] = [];
  for (let i = 0; i < pattern.length; ) {
    const char = pattern[i] as string;
    if (char === "'") {
      const [literal, next] = quoted(pattern, i);
      tokens.push({ literal });
      i = next;
    } else if (/[a-zA-Z]/.test(char)) {
      let end = i + 1;
      while (pattern[end] === char) end++;
      if (!LETTERS.includes(char) || (char === 'X' && end - i > 3)) fail('cascade.builtin.pattern', pattern, i);
      tokens.push({ letter: char, count: end - i });
      i = end;
    } else {
      tokens.push({ literal: char });
      i++;
    }
  }
  return tokens;
}

/** The text of a quoted run that starts at `start`; `''` is an apostrophe, in the run or alone. */
function quoted(pattern: string, start: number): [literal: string, next: number] {
  if (pattern[start + 1] === "'") return ["'", start + 2];
  let literal = '';
  let i = start + 1;
  for (; i < pattern.length; i++) {
    if (pattern[i] === "'") {
      if (pattern[i + 1] !== "'") return [literal, i + 1];
      i++;
    }
    literal += pattern[i];
  }
  return [literal, i]; // not closed: to the end
}

/** Everything that the letters show of an instant. */
export interface Fields {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  millisecond: number;
  dayOfYear: number;
  /** 1 is Monday, 7 is Sunday. */
  weekday: number;
}

export function fieldsOf(ms: number): Fields {
  const days = Math.floor(ms / DAY_MS);
  const rest = ms - days * DAY_MS;
  const { year, month, day } = civilFromDays(days);
  return {
    year,
    month,
    day,
    hour: Math.floor(rest / 3_600_000),
    minute: Math.floor(rest / 60_000) % 60,
    second: Math.floor(rest / 1000) % 60,
    millisecond: rest % 1000,
    dayOfYear: days - daysFromCivil(year, 1, 1) + 1,
    weekday: ((((days + 3) % 7) + 7) % 7) + 1,
  };
}

/** Week of the year with weeks from Sunday, the first one holding January 1; and the year that the week counts for. */
export function weekOfYear({ year, dayOfYear, weekday, month, day }: Fields): { week: number; weekYear: number } {
  const sinceSunday = weekday % 7;
  if (month === 12 && day + (6 - sinceSunday) > 31) return { week: 1, weekYear: year + 1 };
  const firstSinceSunday = (((sinceSunday - dayOfYear + 1) % 7) + 7) % 7;
  return { week: Math.floor((dayOfYear - 1 + firstSinceSunday) / 7) + 1, weekYear: year };
}

/** Week of the month with weeks from Sunday, the first one holding its first day. */
export const weekOfMonth = ({ day, weekday }: Fields): number => Math.floor((day - 1 + ((((weekday - day + 1) % 7) + 7) % 7)) / 7) + 1;

/** Which of its weekday in the month. */
export const weekdayOfMonth = ({ day }: Fields): number => Math.floor((day - 1) / 7) + 1;

/** The instant by the tokens of a pattern. */
export function formatByPattern(ms: number, tokens: readonly DateToken[]): string {
  const fields = fieldsOf(ms);
  return tokens.map((token) => ('literal' in token ? token.literal : letter(token.letter, token.count, fields))).join('');
}

function letter(kind: string, count: number, fields: Fields): string {
  const { year, month, day, hour, minute, second, millisecond, dayOfYear, weekday } = fields;
  const padded = (n: number): string => String(n).padStart(count, '0');
  const yearText = (n: number): string => (count === 2 ? String(n % 100).padStart(2, '0') : padded(n));
  switch (kind) {
    case 'G':
      return 'AD';
    case 'y':
      return yearText(year);
    case 'Y':
      return yearText(weekOfYear(fields).weekYear);
    case 'M':
    case 'L':
      return count < 3 ? padded(month) : named(MONTHS, month, count >= 4);
    case 'w':
      return padded(weekOfYear(fields).week);
    case 'W':
      return padded(weekOfMonth(fields));
    case 'D':
      return padded(dayOfYear);
    case 'd':
      return padded(day);
    case 'F':
      return padded(weekdayOfMonth(fields));
    case 'E':
      return named(WEEKDAYS, weekday, count >= 4);
    case 'u':
      return padded(weekday);
    case 'a':
      return hour < 12 ? 'AM' : 'PM';
    case 'H':
      return padded(hour);
    case 'k':
      return padded(hour === 0 ? 24 : hour);
    case 'K':
      return padded(hour % 12);
    case 'h':
      return padded(hour % 12 === 0 ? 12 : hour % 12);
    case 'm':
      return padded(minute);
    case 's':
      return padded(second);
    case 'S':
      return padded(millisecond);
    case 'z':
      return count >= 4 ? ZONE_NAME : 'UTC';
    case 'Z':
      return '+0000';
    default:
      return 'Z'; // X: the zone is UTC
  }
}

function named(names: readonly string[], number: number, full: boolean): string {
  const name = names[number - 1] ?? '';
  return full ? name : name.slice(0, 3);
}
