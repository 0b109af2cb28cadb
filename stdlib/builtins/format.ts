// `format`: values in a message (builtins.md 3). Locale en-US, time zone UTC, always.
import { fail } from '../errors.ts';
import {
  Currency,
  DateTime,
  dateTimeOf,
  Decimal,
  isInteger,
  isNumber,
  numberOf,
  parseDateTime,
  text,
  typeOf,
  type Value,
} from '../values/index.ts';
import type { BuiltinContext } from './context.ts';
import { type DateToken, formatByPattern, parseDatePattern } from './date-patterns.ts';
import type { Declaration } from './declaration.ts';
import { made, refuseLength, turnsOf } from './growth.ts';
import { remembered } from './memo.ts';
import { choose, type MessagePart, type Placeholder, parseChoices, parseMessage } from './message-patterns.ts';
import { formatByNumberPattern, type NumberPattern, parseNumberPattern, withSign } from './number-patterns.ts';

/** The most values of `format`; more go through Strings.format. */
const MOST_VALUES = 15;
/** Choices may name themselves again. */
const MOST_NESTED = 20;

const NUMBER_STYLES: ReadonlyMap<string, string> = new Map([
  ['integer', '#,##0'],
  ['percent', '#,##0%'],
  ['currency', '¤#,##0.00'],
]);
const DATE_STYLES: ReadonlyMap<string, string> = new Map([
  ['medium', 'MMM d, yyyy'],
  ['short', 'M/d/yy'],
  ['long', 'MMMM d, yyyy'],
  ['full', 'EEEE, MMMM d, yyyy'],
]);
const TIME_STYLES: ReadonlyMap<string, string> = new Map([
  ['medium', 'h:mm:ss a'],
  ['short', 'h:mm a'],
  ['long', 'h:mm:ss a z'],
  ['full', 'h:mm:ss a zzzz'],
]);
const PLAIN_NUMBER = '#,##0.###';

const partsOf: (pattern: string) => readonly MessagePart[] = remembered(parseMessage);
const numberPatternOf: (pattern: string) => NumberPattern = remembered(parseNumberPattern);
const datePatternOf: (pattern: string) => DateToken[] = remembered(parseDatePattern);

/** What reading a message takes, in turns of a loop. */
export const turnsOfMessage = (pattern: string): number => pattern.length * 16;

type Spending = Pick<BuiltinContext, 'spend'>;

/**
 * The message with its values. A placeholder without a value stays as `{n}`; null is `null`.
 * @param context is told of each value: one may stand at many places
 */
export function formatMessage(pattern: string, values: readonly Value[], context: Spending, depth = 0): string {
  let result = '';
  for (const part of partsOf(pattern)) {
    result += typeof part === 'string' ? part : formatPlaceholder(part, values, context, depth);
    refuseLength(result.length);
  }
  return result;
}

function formatPlaceholder(place: Placeholder, values: readonly Value[], context: Spending, depth: number): string {
  const value = values[place.index];
  switch (place.type) {
    case 'number': {
      const pattern = numberPattern(place.style);
      return value === undefined || value === null ? absent(place, value) : formatNumber(value, pattern, place);
    }
    case 'date':
    case 'time': {
      const tokens = datePattern(place.style, place.type === 'date' ? DATE_STYLES : TIME_STYLES);
      return value === undefined || value === null ? absent(place, value) : formatByPattern(instantOf(value, place), tokens);
    }
    case 'choice': {
      const choices = parseChoices(place.style ?? '');
      if (value === undefined || value === null) return absent(place, value);
      const chosen = choose(choices, isAnyNumber(value) ? numberOf(value) : misfit(place, value));
      return chosen.includes('{') && depth < MOST_NESTED ? formatMessage(chosen, values, context, depth + 1) : chosen;
    }
    default:
      if (value === undefined) return absent(place, value);
      if (typeof value === 'number' && Number.isSafeInteger(value)) return grouped(value);
      context.spend(turnsOf(value));
      return isNumber(value) || value instanceof Decimal ? formatNumber(value, numberPatternOf(PLAIN_NUMBER), place) : text(value);
  }
}

/** An Integer as the plain pattern shows it. */
function grouped(integer: number): string {
  let digits = String(Math.abs(integer));
  let result = '';
  for (; digits.length > 3; digits = digits.slice(0, -3)) result = `,${digits.slice(-3)}${result}`;
  return `${integer < 0 ? '-' : ''}${digits}${result}`;
}

function absent({ index }: Placeholder, value: null | undefined): string {
  return value === null ? 'null' : `{${index}}`;
}

function misfit({ index, type }: Placeholder, value: Value): never {
  return fail('cascade.builtin.format', `{${index},${type}}`, typeOf(value));
}

function isAnyNumber(value: Value): boolean {
  return isNumber(value) || value instanceof Decimal || value instanceof Currency;
}

function numberPattern(style: string | null): NumberPattern {
  if (style === null || style.trim() === '') return numberPatternOf(PLAIN_NUMBER);
  return numberPatternOf(NUMBER_STYLES.get(style.trim().toLowerCase()) ?? style);
}

function formatNumber(value: Value, pattern: NumberPattern, place: Placeholder): string {
  if (!isNumber(value) && !(value instanceof Decimal) && !(value instanceof Currency)) return misfit(place, value);
  const number = numberOf(value);
  if (Number.isNaN(number)) return 'NaN';
  return Number.isFinite(number) || isInteger(value) || !isNumber(value)
    ? formatByNumberPattern(value, pattern)
    : withSign('∞', number < 0, pattern);
}

function datePattern(style: string | null, keywords: ReadonlyMap<string, string>): DateToken[] {
  const keyword = style?.trim().toLowerCase() || 'medium'; // an empty style is none, as for numbers
  return datePatternOf(keywords.get(keyword) ?? style ?? '');
}

function instantOf(value: Value, place: Placeholder): number {
  if (value instanceof DateTime) return value.ms;
  if (typeof value === 'string') return parseDateTime(value)?.ms ?? misfit(place, value);
  return (isNumber(value) ? dateTimeOf(Math.floor(numberOf(value)))?.ms : undefined) ?? misfit(place, value);
}

export const format: readonly Declaration[] = [
  {
    call: 'format(str: String, …p0: any|null) => String',
    forms: 'FM',
    about: 'A message with its values: {0}, {1,number,#.##}, {2,date,short}, {3,choice,0#none|1#one}.',
    contents: true,
    errors: ['cascade.builtin.pattern', 'cascade.builtin.format'],
    turns: turnsOfMessage,
    run: (context: BuiltinContext, str: string, values: Value[]) => {
      if (values.length > MOST_VALUES) fail('cascade.procedure.argument.count', 'format', MOST_VALUES + 2);
      return made(context, formatMessage(str, values, context));
    },
  },
  {
    call: 'io.service.text.Strings.format(str: String, args: List) => String',
    forms: 'S',
    about: 'As format, the values in a List of any length.',
    contents: true,
    errors: ['cascade.builtin.pattern', 'cascade.builtin.format'],
    turns: turnsOfMessage,
    run: (context: BuiltinContext, str: string, values: Value[]) => made(context, formatMessage(str, values, context)),
  },
];
