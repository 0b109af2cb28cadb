// `in` and `regex` (language.md 4.7).
import { fail } from '../errors.ts';
import { isReference, Pattern, text, typeOf, type Value } from '../values/index.ts';
import { eq } from './comparison.ts';

/** Where conditions of events are decided all others wait: about a millisecond. */
export const HOST_PATTERN_STEPS = 20_000;

/** `x in list`: some element with `x == element`. */
export function inArray(x: Value, list: Value): boolean {
  if (!Array.isArray(list)) return fail('cascade.lang.class.cast', 'in', typeOf(x), typeOf(list));
  return list.some((element) => eq(x, element));
}

/**
 * `s regex p`: a search, not anchored. A null left is false; the pattern is a String or a RegExp.
 * @param steps what a pattern that backtracks may cost
 */
export function regexSearch(s: Value, pattern: Value, steps = HOST_PATTERN_STEPS): boolean {
  if (s === null || s === undefined) return false;
  if ((typeof s !== 'string' && !isReference(s)) || !(typeof pattern === 'string' || pattern instanceof Pattern))
    return fail('cascade.lang.class.cast', 'regex', typeOf(s), typeOf(pattern));
  return Pattern.of(pattern).test(text(s), { left: steps, of: 'regex' });
}
