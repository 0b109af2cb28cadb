// DateTime built-ins (builtins.md 6.1 to 6.4).
import { fail } from '../errors.ts';
import { civilFromDays, DAY_MS, DateTime, dateTimeOf, daysFromCivil, daysInMonth, type Value } from '../values/index.ts';
import { parseByPattern } from './date-parsing.ts';
import { type Fields, fieldsOf } from './date-patterns.ts';
import { convertDate } from './date-representations.ts';
import type { Declaration } from './declaration.ts';

/** A part of an instant, in UTC; F and M. */
function part(name: string, about: string, of: (fields: Fields, ms: number) => number): Declaration {
  return { call: `${name}(date: DateTime) => Integer`, forms: 'FM', about, run: (_, date: DateTime) => of(fieldsOf(date.ms), date.ms) };
}

const minuteOfDay = ({ hour, minute }: Fields): number => hour * 60 + minute;

/** ISO 8601: weeks from Monday, the first one holding the year's first Thursday. */
function isoWeek({ weekday }: Fields, ms: number): number {
  const thursday = Math.floor(ms / DAY_MS) + 4 - weekday;
  const { year } = civilFromDays(thursday);
  return Math.floor((thursday - daysFromCivil(year, 1, 1)) / 7) + 1;
}

/** The instant moved by milliseconds; outside the years 1 to 9999 it is an overflow of the built-in. */
function moved(date: DateTime, byMs: number, procedure: string): DateTime {
  return dateTimeOf(date.ms + byMs) ?? fail('cascade.lang.arithmetic.overflow', procedure);
}

/** A method that moves a DateTime by `unitMs` times its argument. */
function mover(name: string, parameter: string, about: string, unitMs: number): Declaration {
  return {
    call: `${name}(date: DateTime, ${parameter}: Integer) => DateTime`,
    forms: 'M',
    about,
    errors: ['cascade.lang.arithmetic.overflow'],
    run: (_, date: DateTime, count: number) => moved(date, count * unitMs, name),
  };
}

const UNITS: Record<string, number> = {
  NANOS: 1,
  MICROS: 1,
  MILLIS: 1,
  SECONDS: 1000,
  MINUTES: 60_000,
  HOURS: 3_600_000,
  HALF_DAYS: DAY_MS / 2,
  DAYS: DAY_MS,
};

function truncateTo(date: DateTime, unit: string): DateTime {
  const ms = UNITS[unit.toUpperCase()] ?? fail('cascade.lang.range', 'chronoUnit', unit);
  return new DateTime(Math.floor(date.ms / ms) * ms);
}

/** The same day of another month, or its last day where it is shorter; with `keepLast` a last day stays a last day. */
function addMonths(date: DateTime, months: number, keepLast: boolean, procedure: string): DateTime {
  const { year, month, day } = civilFromDays(Math.floor(date.ms / DAY_MS));
  const total = year * 12 + (month - 1) + months;
  const toYear = Math.floor(total / 12);
  const toMonth = total - toYear * 12 + 1;
  const last = daysInMonth(toYear, toMonth);
  const toDay = keepLast && day === daysInMonth(year, month) ? last : Math.min(day, last);
  const timeOfDay = date.ms - Math.floor(date.ms / DAY_MS) * DAY_MS;
  return dateTimeOf(daysFromCivil(toYear, toMonth, toDay) * DAY_MS + timeOfDay) ?? fail('cascade.lang.arithmetic.overflow', procedure);
}

export const dates: readonly Declaration[] = [
  { call: 'now() => DateTime', forms: 'F', about: 'The current instant.', run: (context) => new DateTime(context.now()) },
  {
    call: 'parseDate(str: String, dateFormat: String) => DateTime',
    forms: 'FM',
    about: 'Reads a text by the letters of a date pattern.',
    errors: ['cascade.lang.conversion', 'cascade.builtin.pattern'],
    turns: (str: string, dateFormat: string) => str.length / 32 + 2 * dateFormat.length,
    run: (context, str: string, dateFormat: string) => parseByPattern(str, dateFormat, context.now()),
  },
  {
    call: 'date(value: any, sourceRepresentation?: String, destinationRepresentation?: String) => any',
    forms: 'FM',
    about: 'An instant from one representation to another; alone: epoch milliseconds.',
    errors: ['cascade.lang.range', 'cascade.lang.conversion'],
    run: (_, value: Value, source: string | null, destination: string | null) => {
      if (source !== null && destination === null) fail('cascade.procedure.parameter.missing', 'date', 'destinationRepresentation');
      return convertDate(value, source ?? 'date', destination ?? 'epochMilliseconds');
    },
  },
  { call: 'getTime(date: DateTime) => Integer', forms: 'FM', about: 'Epoch milliseconds.', run: (_, date: DateTime) => date.ms },
  { call: 'toEpochMilli(date: DateTime) => Integer', forms: 'M', about: 'Epoch milliseconds.', run: (_, date: DateTime) => date.ms },
  {
    call: 'getEpochSecond(date: DateTime) => Integer',
    forms: 'M',
    about: 'Epoch seconds.',
    run: (_, date: DateTime) => Math.floor(date.ms / 1000),
  },
  part('getMilliseconds', 'Milliseconds, 0 to 999.', ({ millisecond }) => millisecond),
  part('getSeconds', 'Seconds, 0 to 59.', ({ second }) => second),
  part('getMinutes', 'Minutes, 0 to 59.', ({ minute }) => minute),
  part('getHours', 'Hours, 0 to 23.', ({ hour }) => hour),
  part('getDate', 'Day of the month, 1 to 31.', ({ day }) => day),
  part('getMonth', 'Month, 1 to 12.', ({ month }) => month),
  part('getFullYear', 'Year.', ({ year }) => year),
  part('year', 'Year.', ({ year }) => year),
  part('getDay', 'Day of the week, 1 is Monday.', ({ weekday }) => weekday),
  part('DoW', 'Day of the week, 1 is Monday.', ({ weekday }) => weekday),
  part('week', 'Week of the year by ISO 8601.', isoWeek),
  part('HoW', 'Hour of the week from Monday 00:00.', ({ weekday, hour }) => (weekday - 1) * 24 + hour),
  part('MoW', 'Minute of the week from Monday 00:00.', (fields) => (fields.weekday - 1) * 1440 + minuteOfDay(fields)),
  part('DoY', 'Day of the year from 1.', ({ dayOfYear }) => dayOfYear),
  part('MoD', 'Minute of the day.', minuteOfDay),
  part('SoD', 'Second of the day.', (fields) => minuteOfDay(fields) * 60 + fields.second),
  part('SoH', 'Second of the hour.', ({ minute, second }) => minute * 60 + second),
  mover('plusMillis', 'interval', 'Later by an interval.', 1),
  mover('minusMillis', 'interval', 'Earlier by an interval.', -1),
  mover('plusSeconds', 'n', 'Later by seconds.', 1000),
  mover('minusSeconds', 'n', 'Earlier by seconds.', -1000),
  {
    call: 'isBefore(date: DateTime, d2: DateTime) => Boolean',
    forms: 'M',
    about: 'Whether it is earlier.',
    run: (_, date: DateTime, other: DateTime) => date.ms < other.ms,
  },
  {
    call: 'isAfter(date: DateTime, d2: DateTime) => Boolean',
    forms: 'M',
    about: 'Whether it is later.',
    run: (_, date: DateTime, other: DateTime) => date.ms > other.ms,
  },
  {
    call: 'equals(date: DateTime, d2: any|null) => Boolean',
    forms: 'M',
    about: 'Whether other is the same instant.',
    run: (_, date: DateTime, other: Value) => other instanceof DateTime && other.ms === date.ms,
  },
  {
    call: 'truncateTo(date: DateTime, chronoUnit: String) => DateTime',
    forms: 'FM',
    about: 'The start of the unit, from MILLIS to DAYS.',
    errors: ['cascade.lang.range'],
    run: (_, date: DateTime, unit: string) => truncateTo(date, unit),
  },
  {
    call: 'addMonth(date: DateTime, monthOffset: Integer, preserveLastDay: Boolean = false) => DateTime',
    forms: 'FM',
    about: 'Months later, on the last day where the month is shorter.',
    errors: ['cascade.lang.arithmetic.overflow'],
    run: (_, date: DateTime, offset: number, keepLast: boolean) => addMonths(date, offset, keepLast, 'addMonth'),
  },
  {
    call: 'addYear(date: DateTime, yearOffset: Integer, preserveLastDay: Boolean = false) => DateTime',
    forms: 'FM',
    about: 'Years later, on the last day where the month is shorter.',
    errors: ['cascade.lang.arithmetic.overflow'],
    run: (_, date: DateTime, offset: number, keepLast: boolean) => addMonths(date, offset * 12, keepLast, 'addYear'),
  },
];
