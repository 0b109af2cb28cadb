// How large a program the linear engine makes of a regular expression, told from its text: compiling takes as long, and counted repetitions
// are written out.

/** What a quantifier makes of the atom before it. */
const QUANTIFIER = /[*+?]|\{(\d+)(?:,(\d*))?\}/y;

/** Above it more or less is all the same. */
const ENOUGH = 1e12;

/**
 * At least as many instructions as the engine makes of the pattern; some more, as what it means is not looked into.
 * @param text as translatePattern gives it
 */
export function instructionsIn(text: string): number {
  const outer: number[] = [];
  let sum = 0;
  let last = 0; // of it, the last atom's part
  for (let at = 0; at < text.length; ) {
    QUANTIFIER.lastIndex = at;
    const quantifier = QUANTIFIER.exec(text);
    if (quantifier) {
      const [whole, least, most] = quantifier;
      const times = least === undefined ? 1 : Math.max(Number(least), Number(most ?? 0), 1);
      const left = least === undefined || most !== undefined ? 3 : 0; // each may be left out, or comes again
      const repeated = Math.min((last + left) * times, ENOUGH); // each may be left out, and is remembered where it began
      sum += repeated - last;
      last = repeated;
      at += whole.length;
      continue;
    }
    const char = text[at];
    const length = char === '[' ? classLength(text, at) : char === '\\' ? escapeLength(text, at) : 1;
    if (char === '(') {
      outer.push(sum);
      [sum, last] = [0, 0];
    } else if (char === ')') {
      last = Math.max(sum, 1) + 2;
      sum = (outer.pop() ?? 0) + last;
    } else {
      last = char === '|' ? 2 : 1;
      sum += last;
    }
    at += length;
  }
  return outer.reduce((all, one) => all + one, sum); // a group that is not closed is no pattern
}

function classLength(text: string, from: number): number {
  let at = from + (text[from + 1] === '^' ? 2 : 1);
  if (text[at] === ']') at++;
  for (; at < text.length && text[at] !== ']'; at++) {
    if (text[at] === '\\') at++;
    else if (text.startsWith('[:', at)) {
      const end = text.indexOf(':]', at + 2);
      if (end >= 0) at = end + 1;
    }
  }
  return at + 1 - from;
}

function escapeLength(text: string, from: number): number {
  const end = /[pPxk]/.test(text[from + 1] ?? '') && text[from + 2] === '{' ? text.indexOf('}', from) : -1;
  return end < 0 ? 2 : end + 1 - from;
}
