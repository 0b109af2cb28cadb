// The limits of what built-ins make (language.md 10), and the count of what a run holds.
import { fail } from '../errors.ts';
import { checkedString, isObject, MAX_DEPTH, MAX_ELEMENTS, MAX_STRING, type Value } from '../values/index.ts';
import type { BuiltinContext } from './context.ts';

/** About what an element of a List, or a property, takes: more than its place, as nobody counted the small value that is put there. */
const ELEMENT_BYTES = 48;
/** From here on a run is told once that its List is large (builtins.md 7). */
const LARGE_LIST = 10_000;

/** A new text of a built-in. */
export function made(context: BuiltinContext, text: string): string {
  context.charge(text.length * 2);
  return checkedString(text);
}

/** What it takes to write any value as a text, in turns of a loop. Above a million it is not counted to the end. */
export const turnsOf = (value: Value): number => MOST_COUNTED - uncounted(value, MOST_COUNTED, 0);
const MOST_COUNTED = 1_000_000;

function uncounted(value: Value, left: number, depth: number): number {
  if (typeof value === 'string') return left - value.length / 16;
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return left - 1;
  let rest = left - 4;
  if (Array.isArray(value)) for (let i = 0; i < value.length && rest > 0; i++) rest = uncounted(value[i] ?? null, rest - 2, depth + 1);
  else if (isObject(value))
    for (const key in value) {
      if (rest <= 0) break;
      rest = uncounted(value[key] ?? null, rest - 4 - key.length / 16, depth + 1);
    }
  return rest;
}

/** Before a text of `length` characters is made. */
export function refuseLength(length: number): void {
  if (length > MAX_STRING) fail('cascade.lang.string.size', MAX_STRING);
}

/** Before `list` gets `more` elements. */
export function grow(context: BuiltinContext, list: readonly Value[], more: number): void {
  const size = list.length + more;
  if (size > MAX_ELEMENTS) fail('cascade.execution.memory', 'List', MAX_ELEMENTS);
  if (size > LARGE_LIST) context.warnOnce('largeList', `A List has more than ${LARGE_LIST} elements.`);
  context.charge(more * ELEMENT_BYTES);
}

/** A new List of a built-in. */
export function madeList(context: BuiltinContext, list: Value[]): Value[] {
  grow(context, [], list.length);
  return list;
}
