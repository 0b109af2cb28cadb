// `parseDate`: a text read by the letters of a date pattern (builtins.md 6.1, 3.3), strictly.
import { unconvertible } from '../convert/index.ts';
import { DAY_MS, type DateTime, dateTimeOf, daysFromCivil, daysInMonth, isLeapYear } from '../values/index.ts';
import {
  type DateToken,
  type Fields,
  fieldsOf,
  MONTHS,
  parseDatePattern,
  weekdayOfMonth,
  WEEKDAYS,
  weekOfMonth,
  weekOfYear,
  ZONE_NAME,
} from './date-patterns.ts';

type Read = Partial<Record<string, number>>;

/** Letters that are numbers: their range. Years, names and zones are read apart. */
const RANGES: Record<string, [least: number, most: number]> = {
  M: [1, 12],
  L: [1, 12],
  w: [1, 53],
  W: [0, 6],
  D: [1, 366],
  d: [1, 31],
  F: [1, 5],
  u: [1, 7],
  H: [0, 23],
  k: [1, 24],
  K: [0, 11],
  h: [1, 12],
  m: [0, 59],
  s: [0, 59],
  S: [0, 999],
};

/**
 * Fields that are not there are those of 1970-01-01T00:00:00.000Z; text after the match is ignored.
 * @param nowMs where two-digit years are around: from 80 years before to 20 after
 */
export function parseByPattern(text: string, pattern: string, nowMs: number): DateTime {
  const tokens = parseDatePattern(pattern);
  const refuse = (): never => unconvertible(text, 'DateTime');
  const read: Read = {};
  let at = 0;
  tokens.forEach((token, i) => {
    if ('literal' in token) {
      if (!text.startsWith(token.literal, at)) refuse();
      at += token.literal.length;
      return;
    }
    const [value, length] = readField(text.slice(at, at + 64), token, isNumeric(tokens[i + 1]), nowMs) ?? refuse();
    read[token.letter] = value;
    at += length;
  });
  return assemble(read) ?? refuse();
}

function isNumeric(token: DateToken | undefined): boolean {
  if (token === undefined || 'literal' in token) return false;
  return token.letter === 'y' || token.letter === 'Y' || (Object.hasOwn(RANGES, token.letter) && !isName(token.letter, token.count));
}

function isName(letter: string, count: number): boolean {
  return (letter === 'M' || letter === 'L') && count >= 3;
}

/** The value at the start of `rest` and how long it is; null when there is none or it is out of range. Zones give minutes. */
function readField(
  rest: string,
  { letter, count }: { letter: string; count: number },
  tight: boolean,
  nowMs: number,
): [number, number] | null {
  if (letter === 'G') return /^AD/i.test(rest) ? [1, 2] : null;
  if (letter === 'a') return /^[AP]M/i.test(rest) ? [/^p/i.test(rest) ? 12 : 0, 2] : null;
  if (letter === 'E') return readName(rest, WEEKDAYS);
  if (isName(letter, count)) return readName(rest, MONTHS);
  if (letter === 'z' || letter === 'Z' || letter === 'X') return readZone(rest);
  const digits = new RegExp(tight ? `^\\d{1,${count}}` : '^\\d{1,9}').exec(rest)?.[0];
  if (digits === undefined) return null;
  const value = Number(digits);
  if (letter === 'y' || letter === 'Y') return [count <= 2 && digits.length === 2 ? nearYear(value, nowMs) : value, digits.length];
  const [least, most] = RANGES[letter] ?? [0, -1];
  return value >= least && value <= most ? [value, digits.length] : null;
}

function readName(rest: string, names: readonly string[]): [number, number] | null {
  const lower = rest.toLowerCase();
  for (const length of [9, 3]) {
    const index = names.findIndex((name) => lower.startsWith(name.slice(0, length).toLowerCase()));
    if (index >= 0) return [index + 1, Math.min(length, (names[index] as string).length)];
  }
  return null;
}

function readZone(rest: string): [number, number] | null {
  const name = new RegExp(`^(?:${ZONE_NAME}|UTC|GMT|Z)`, 'i').exec(rest)?.[0] ?? '';
  const offset = /^([+-])(\d\d):?(\d\d)?/.exec(rest.slice(name.length));
  if (!offset || (name !== '' && !/^(?:UTC|GMT)$/i.test(name))) return name === '' ? null : [0, name.length];
  const minutes = Number(offset[2]) * 60 + Number(offset[3] ?? 0);
  return Number(offset[2]) > 23 || Number(offset[3] ?? 0) > 59
    ? null
    : [offset[1] === '-' ? -minutes : minutes, name.length + offset[0].length];
}

/** The year with these last two digits that lies within 80 years before and 20 after. */
function nearYear(lastTwo: number, nowMs: number): number {
  const first = fieldsOf(nowMs).year - 80;
  return first + ((((lastTwo - first) % 100) + 100) % 100);
}

function assemble(read: Read): DateTime | null {
  const year = read.y ?? read.Y ?? 1970;
  if (year < 1 || year > 9999) return null;
  const days = read.w === undefined && read.W === undefined && read.F === undefined ? dayOf(read, year) : dayByWeek(read, year);
  if (days === null) return null;
  const half = read.h === undefined ? read.K : read.h % 12;
  const hour = read.H ?? (read.k === undefined ? undefined : read.k % 24) ?? (half ?? 0) + (half === undefined ? 0 : (read.a ?? 0));
  const minutes = hour * 60 + (read.m ?? 0) - (read.z ?? read.Z ?? read.X ?? 0);
  const ms = days * DAY_MS + minutes * 60_000 + (read.s ?? 0) * 1000 + (read.S ?? 0);
  const weekday = read.E ?? read.u;
  if (weekday !== undefined && weekday !== fieldsOf(days * DAY_MS).weekday) return null;
  return dateTimeOf(ms);
}

function dayOf(read: Read, year: number): number | null {
  const month = read.M ?? read.L ?? 1;
  const day = read.d ?? 1;
  if (day > daysInMonth(year, month) || (read.D ?? 1) > (isLeapYear(year) ? 366 : 365)) return null;
  const byDayOfYear = read.D !== undefined && read.M === undefined && read.d === undefined;
  return byDayOfYear ? daysFromCivil(year, 1, 1) + (read.D as number) - 1 : daysFromCivil(year, month, day);
}

/** The first day that would be written with all that was read: week 1 may begin in the year before. */
function dayByWeek(read: Read, year: number): number | null {
  const weekday = read.E ?? read.u;
  const month = read.M ?? read.L ?? (read.w === undefined && read.D === undefined ? 1 : undefined);
  // A week year is one only beside a week of the year; else it is read as the year.
  const weekYear = read.w === undefined ? undefined : read.Y;
  const isWanted = (wanted: number | undefined, actual: number): boolean => wanted === undefined || wanted === actual;
  const fits = (fields: Fields): boolean =>
    isWanted(weekday, fields.weekday) &&
    isWanted(month, fields.month) &&
    isWanted(weekYear === undefined ? year : read.y, fields.year) &&
    isWanted(read.d, fields.day) &&
    isWanted(read.D, fields.dayOfYear) &&
    isWanted(read.W, weekOfMonth(fields)) &&
    isWanted(read.F, weekdayOfMonth(fields)) &&
    isWanted(read.w, weekOfYear(fields).week) &&
    isWanted(weekYear, weekOfYear(fields).weekYear);
  const first = daysFromCivil(year, 1, 1);
  for (let day = first - 7; day < first + 373; day++) if (fits(fieldsOf(day * DAY_MS))) return day;
  return null;
}
