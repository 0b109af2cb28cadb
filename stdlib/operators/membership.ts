// `in` and `regex` (language.md 4.7).
import { fail } from '../errors.ts';
import { isReference, Pattern, type SearchBounds, text, typeOf, type Value } from '../values/index.ts';
import { eq } from './comparison.ts';

/** `x in list`: some element with `x == element`. */
export function inArray(x: Value, list: Value): boolean {
  if (!Array.isArray(list)) return fail('cascade.lang.class.cast', 'in', typeOf(x), typeOf(list));
  return list.some((element) => eq(x, element));
}

/** `s regex p`: a search, not anchored. A null left is false; the pattern is a String or a RegExp. */
export function regexSearch(s: Value, pattern: Value, bounds: SearchBounds): boolean {
  if (s === null || s === undefined) return false;
  if ((typeof s !== 'string' && !isReference(s)) || !(typeof pattern === 'string' || pattern instanceof Pattern))
    return fail('cascade.lang.class.cast', 'regex', typeOf(s), typeOf(pattern));
  const [compiled, subject] = [Pattern.of(pattern, bounds), text(s)];
  return compiled.within(bounds, 'regex', subject, (patience) => compiled.test(subject, patience));
}
