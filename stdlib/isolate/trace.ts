// What a traced module tells while it runs (compiler/3-emit/trace.ts): lines and values, cut to what people read.
import { getOwn, isObject, LocalValue, text, typeOf, type Value } from '../values/index.ts';
import type { Run } from './run.ts';

/** Of one run; after that it goes on without a trace. */
const MOST_LINES = 20_000;
/** Characters of a value. */
const MOST_TEXT = 300;
/** Below it a part of a value is not shown; it also ends what holds itself. */
const SMALLEST = 8;

/** Tells a line, and values by name if there are any. @returns the last of them, or null */
export function traceLine(run: Run, body: string, line: number, names: readonly string[], ...values: Value[]): Value {
  const count = ++run.linesTold;
  if (count <= MOST_LINES)
    run.line(JSON.stringify([body, line, ...names.map((name, index) => [name, brief(values[index] ?? null, MOST_TEXT)])]));
  else if (count === MOST_LINES + 1) run.line(JSON.stringify([body, line, ['…', `no more than ${MOST_LINES} lines are told`]]));
  return values.at(-1) ?? null;
}

/** Nearly JSON: what has no JSON is named by its type, and what does not fit `room` is left out. */
function brief(value: Value, room: number): string {
  if (room < SMALLEST) return '…';
  if (typeof value === 'string') return value.length > room ? `${JSON.stringify(value.slice(0, room))}…` : JSON.stringify(value);
  if (Array.isArray(value)) return list('[', value.length, (index) => brief(value[index] ?? null, room / 2), ']', room);
  if (!isObject(value)) return value instanceof LocalValue ? typeOf(value) : text(value);
  const keys = Object.keys(value);
  const member = (key: string): string => `${brief(key, room)}: ${brief(getOwn(value, key), room / 2)}`;
  return list('{', keys.length, (index) => member(keys[index] ?? ''), '}', room);
}

function list(open: string, size: number, item: (index: number) => string, close: string, room: number): string {
  let made = open;
  for (let index = 0; index < size; index++) {
    if (made.length > room) return `${made}, …${close}`;
    made += `${index > 0 ? ', ' : ''}${item(index)}`;
  }
  return made + close;
}
