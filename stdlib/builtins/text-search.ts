// Where a text stands in another. The engine's own search takes the product of both lengths at worst, so only short texts are left to it.
import type { BuiltinContext } from './context.ts';

/** Up to here the engine's search takes at most so many comparisons for each character. */
const SHORT = 64;

/** In turns of a loop. */
export function searchTurns(str: string, substr: string): number {
  if (substr.length > str.length) return 0;
  return substr.length <= SHORT ? str.length / 32 + (str.length * substr.length) / 128 : (str.length + substr.length) / 8;
}

/** The first position, or -1. */
export const firstIndex = (context: BuiltinContext, str: string, substr: string): number =>
  substr.length <= SHORT || substr.length >= str.length
    ? str.indexOf(substr)
    : find(context, str.length, substr.length, {
        text: (i) => str.charCodeAt(i),
        sought: (i) => substr.charCodeAt(i),
      });

/** The last position, or -1: the first one of both texts read backwards. */
export function lastIndex(context: BuiltinContext, str: string, substr: string): number {
  if (substr.length <= SHORT || substr.length >= str.length) return str.lastIndexOf(substr);
  const [last, lastSought] = [str.length - 1, substr.length - 1];
  const found = find(context, str.length, substr.length, {
    text: (i) => str.charCodeAt(last - i),
    sought: (i) => substr.charCodeAt(lastSought - i),
  });
  return found < 0 ? -1 : str.length - substr.length - found;
}

interface Units {
  text(i: number): number;
  sought(i: number): number;
}

/** By Knuth, Morris and Pratt: a turn for each character of both, whatever they are. */
function find(context: BuiltinContext, length: number, size: number, { text, sought }: Units): number {
  context.charge(4 * size);
  /** How long an end of the first `i + 1` characters is that they also begin with. */
  const ends = new Int32Array(size);
  const longer = (matched: number, unit: number): number => {
    let known = matched;
    while (known > 0 && sought(known) !== unit) known = ends[known - 1] as number;
    return sought(known) === unit ? known + 1 : 0;
  };
  for (let i = 1; i < size; i++) ends[i] = longer(ends[i - 1] as number, sought(i));
  for (let i = 0, matched = 0; i < length; i++) {
    matched = longer(matched, text(i));
    if (matched === size) return i + 1 - size;
  }
  return -1;
}
