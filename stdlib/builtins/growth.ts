// The limits of what built-ins make (language.md 10), and the count of what a run holds.
import { fail } from '../errors.ts';
import { checkedString, MAX_ELEMENTS, MAX_STRING, type Value } from '../values/index.ts';
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
