// Intervals and time zones (builtins.md 6.5, 6.6).
import { unconvertible } from '../convert/index.ts';
import { fail } from '../errors.ts';
import { type DateTime, integer, MAX_INTEGER, MIN_INTEGER } from '../values/index.ts';
import type { Declaration } from './declaration.ts';
import { madeList } from './growth.ts';

const UNIT_MS: Record<string, number> = {
  millisecond: 1,
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};

/** More digits are more milliseconds than an Integer holds; only so long a text is made a number. */
const MOST_DIGITS = 20;

const LITERAL = /^\s*(\d+)\s*(millisecond|second|minute|hour|day|week)s?\s*$/i;
const DURATION = /^(-?)P(?:(\d+)W|(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,9}))?S)?)?)$/i;

function stringToInterval(str: string): bigint | number {
  const [, count, unit = ''] = LITERAL.exec(str) ?? [];
  return count === undefined ? unconvertible(str, 'Interval') : sum(str, [[count, unit.toLowerCase()]]);
}

/** As exact as literals are, which reach to 64 bits. @param more milliseconds */
function sum(str: string, parts: readonly (readonly [count: string, unit: string])[], more = 0, sign = 1): bigint | number {
  let ms = BigInt(more);
  for (const [count, unit] of parts) {
    const digits = count.replace(/^0+(?=\d)/, '');
    if (digits.length > MOST_DIGITS) return unconvertible(str, 'Interval');
    ms += BigInt(digits) * BigInt(UNIT_MS[unit] as number);
  }
  ms *= BigInt(sign);
  return ms < MIN_INTEGER || ms > MAX_INTEGER ? unconvertible(str, 'Interval') : integer(ms);
}

function durationInMillis(str: string): bigint | number {
  const [whole, sign, weeks, days, hours, minutes, seconds, fraction] = DURATION.exec(str.trim()) ?? [];
  const given = [weeks, days, hours, minutes, seconds];
  if (whole === undefined || given.every((part) => part === undefined)) return unconvertible(str, 'Interval');
  const units = ['week', 'day', 'hour', 'minute', 'second'];
  const parts = given.map((part, i) => [part ?? '0', units[i] as string] as const);
  return sum(str, parts, Number((fraction ?? '').slice(0, 3).padEnd(3, '0')), sign === '-' ? -1 : 1);
}

/** `±HH:mm` of a zone at an instant, `Z` for zero. The engine's own tables know the zones. */
function timezoneOffset(zoneId: string, ms: number): string {
  let parts: Intl.DateTimeFormatPart[];
  try {
    parts = new Intl.DateTimeFormat('en-US', { timeZone: zoneId, timeZoneName: 'longOffset' }).formatToParts(new Date(ms));
  } catch {
    return fail('cascade.lang.range', 'zoneId', zoneId); // the only thing here that the caller chose
  }
  const offset = /[+-]\d\d:\d\d/.exec(parts.find(({ type }) => type === 'timeZoneName')?.value ?? '')?.[0];
  return offset === undefined || /^.00:00$/.test(offset) ? 'Z' : offset;
}

/** The engine lists these by the names that they had before, and takes both. */
const RENAMED_ZONES: readonly string[] = [
  'UTC',
  'GMT',
  'Africa/Asmara',
  'America/Argentina/Buenos_Aires',
  'America/Argentina/Catamarca',
  'America/Argentina/Cordoba',
  'America/Argentina/Jujuy',
  'America/Argentina/Mendoza',
  'America/Atikokan',
  'America/Indiana/Indianapolis',
  'America/Kentucky/Louisville',
  'America/Nuuk',
  'Asia/Ho_Chi_Minh',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Yangon',
  'Atlantic/Faroe',
  'Europe/Kyiv',
  'Pacific/Chuuk',
  'Pacific/Kanton',
  'Pacific/Pohnpei',
];

export const intervals: readonly Declaration[] = [
  {
    call: 'stringToInterval(str: String) => Integer',
    forms: 'FM',
    about: 'The milliseconds of an interval literal.',
    errors: ['cascade.lang.conversion'],
    run: (_, str: string) => stringToInterval(str),
  },
  {
    call: 'durationInMillis(str: String) => Integer',
    forms: 'FM',
    about: 'The milliseconds of an ISO duration.',
    errors: ['cascade.lang.conversion'],
    run: (_, str: string) => durationInMillis(str),
  },
  {
    call: 'timezoneOffset(zoneId: String, date?: DateTime) => String',
    forms: 'F',
    about: 'The offset of a time zone at an instant.',
    errors: ['cascade.lang.range'],
    run: (context, zoneId: string, date: DateTime | null) => timezoneOffset(zoneId, date?.ms ?? context.now()),
  },
  {
    call: 'getZoneIds() => List',
    forms: 'F',
    about: 'The names of all time zones, sorted.',
    run: (context) => madeList(context, [...new Set([...Intl.supportedValuesOf('timeZone'), ...RENAMED_ZONES])].sort()),
  },
];
