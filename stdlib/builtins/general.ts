// General procedures and JSON (builtins.md 5.2, 8, 13, 14).
import { fail } from '../errors.ts';
import {
  compareDecimals,
  DateTime,
  Decimal,
  decimalOfNumber,
  getOwn,
  integer,
  isNumber,
  isObject,
  LocalValue,
  numberOf,
  type ObjectValue,
  parseJsonText,
  stringify,
  typeOf,
  type Value,
} from '../values/index.ts';
import type { BuiltinContext } from './context.ts';
import type { Declaration } from './declaration.ts';
import { made, madeList, turnsOf } from './growth.ts';
import { exactInteger } from './numbers.ts';

/** About what a parsed value takes for each character of its text. */
const BYTES_A_CHARACTER = 4;

type Integer = number | bigint;

function* range(from: Integer, to: Integer, increment: Integer): Generator<Value> {
  if ([from, to, increment].every((bound) => typeof bound === 'number') && Number.isSafeInteger(Number(to) + Number(increment))) {
    for (let i = Number(from); increment > 0 ? i < to : i > to; i += Number(increment)) yield i;
    return;
  }
  const [end, step] = [BigInt(to), BigInt(increment)];
  for (let i = BigInt(from); step > 0n ? i < end : i > end; i += step) yield integer(i);
}

/** Of a Map. */
const entriesOf = (v: Value): Value[] | undefined => (v instanceof LocalValue ? (v as { entries?: () => Value[] }).entries?.() : undefined);

/** Where a value stands on the line on which thresholds are crossed. */
function place(value: Value, parameter: string): Integer | Decimal {
  if (value instanceof DateTime) return value.ms;
  if (typeof value === 'bigint' || value instanceof Decimal) return value;
  return isNumber(value)
    ? numberOf(value)
    : fail('cascade.procedure.parameter.type', 'threshold', parameter, 'Number or DateTime', typeOf(value));
}

/** Below 0: a before b; NaN: neither is. JavaScript compares a bigint with a double exactly. */
function order(a: Integer | Decimal, b: Integer | Decimal): number {
  if (!(a instanceof Decimal) && !(b instanceof Decimal)) return a < b ? -1 : a > b ? 1 : Number(a) === Number(b) ? 0 : Number.NaN;
  const [left, right] = [decimal(a), decimal(b)];
  return left && right ? compareDecimals(left, right) : Math.sign(numberOf(a) - numberOf(b)); // an infinity, or NaN
}

const decimal = (value: Integer | Decimal): Decimal | null => (value instanceof Decimal ? value : decimalOfNumber(value));

function threshold(_: BuiltinContext, previous: Value, next: Value, limit: Value, direction: string): boolean {
  if (!['increasing', 'decreasing', 'either'].includes(direction)) fail('cascade.lang.range', 'direction', direction);
  if (previous === null || next === null) return false;
  const before = place(previous, 'previousValue');
  const after = place(next, 'newValue');
  const at = place(limit, 'thresholdValue');
  const rises = order(before, at) < 0 && order(after, at) >= 0;
  const falls = order(before, at) > 0 && order(after, at) <= 0;
  return (rises && direction !== 'decreasing') || (falls && direction !== 'increasing');
}

function elements(v: Value): Iterable<Value> {
  if (v === null) return [];
  if (Array.isArray(v)) return v;
  return isObject(v) ? Object.keys(v).map((key) => ({ key, value: getOwn(v, key) })) : [v];
}

export const general: readonly Declaration[] = [
  {
    call: 'typeOf(target: any|null) => String',
    forms: 'FM',
    about: 'The name of the type; null for null.',
    run: (_, target: Value) => (target === null ? null : typeOf(target)),
  },
  { call: 'uuid() => String', forms: 'F', about: 'A random UUID.', ofRun: true, run: (context) => context.uuid() },
  {
    call: 'stringify(target: any|null|Sequence, prettyPrint: Boolean = false) => String',
    forms: 'FM',
    about: 'JSON, compact or with 4 blanks a level.',
    contents: true,
    errors: ['cascade.lang.range'],
    turns: turnsOf,
    run: (context, target: Value, pretty: boolean) => made(context, stringify(target, pretty)),
  },
  {
    call: 'parse(str: String) => any',
    forms: 'FM',
    about: 'The value of a JSON text.',
    errors: ['cascade.builtin.parse'],
    turns: (str: string) => str.length,
    run: (context, str: string) => {
      context.charge(str.length * BYTES_A_CHARACTER);
      return parseJsonText(str);
    },
  },
  {
    call: 'threshold(previousValue: any|null, newValue: any|null, thresholdValue: any, direction: String = "either") => Boolean',
    forms: 'F',
    about: 'Whether a value has just crossed a threshold.',
    errors: ['cascade.lang.range'],
    run: threshold,
  },
  {
    call: 'range(from: Number, to: Number, increment: Number = 1) => Sequence',
    ofRun: true,
    forms: 'F',
    about: 'The Integers from, from + increment … before to.',
    errors: ['cascade.lang.range'],
    run: (context, from: Value, to: Value, increment: Value) => {
      const bounds = [
        exactInteger('range', 'from', from),
        exactInteger('range', 'to', to),
        exactInteger('range', 'increment', increment),
      ] as const;
      return bounds[2] === 0 ? fail('cascade.lang.range', 'increment', 0) : context.sequence(range(...bounds));
    },
  },
  {
    call: 'toArray(v: any|null|Sequence) => List',
    forms: 'FM',
    about: 'A List as it is, the elements of a Sequence, [] for null, else a List of the one value.',
    run: (context, v: Value) => (Array.isArray(v) ? v : v === null ? [] : (entriesOf(v) ?? madeList(context, [v]))),
  },
  {
    call: 'toSequence(v: any|null) => Sequence',
    ofRun: true,
    forms: 'FM',
    about: 'The elements of a List, {key, value} of an Object, else the one value.',
    run: (context, v: Value) => (typeOf(v) === 'Sequence' ? v : context.sequence(elements(v))),
  },
  {
    call: 'merge(sequences: Object) => Sequence',
    ofRun: true,
    forms: 'F',
    about: 'The elements of all the collections as {label: element}, each collection in its order.',
    run: (context, sequences: ObjectValue) => {
      const labelled = Object.keys(sequences).map((label) => [label, getOwn(sequences, label)] as const);
      for (const [label, collection] of labelled)
        if (!Array.isArray(collection) && !isObject(collection) && typeOf(collection) !== 'Sequence')
          fail('cascade.procedure.parameter.type', 'merge', `sequences.${label}`, 'List or Sequence or Object', typeOf(collection));
      return context.merge(labelled);
    },
  },
];
