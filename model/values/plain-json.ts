// May JSON.parse read this text? A scan of one pass that says no to everything on which it could differ from the exact parser.
// A wrong no costs time only, a wrong yes is a fault: the property test of parse-json.test.ts holds the two equal.

const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
const BACKSLASH = 92;

/**
 * @returns false for numbers that a double or JSON.parse would change, escapes of surrogates, nesting deeper than `maxDepth`, and where there
 * may be more than `maxValues` values
 */
export function suitsJsonParse(text: string, maxDepth: number, maxValues: number): boolean {
  let depth = 0;
  let values = 1; // one follows each comma, and at most one each bracket
  let at = 0;
  while (at < text.length) {
    const c = text.charCodeAt(at);
    if (c === QUOTE) {
      at = endOfString(text, at + 1);
      if (at < 0) return false;
    } else if (c === MINUS || (c >= ZERO && c <= NINE)) {
      at = endOfPlainNumber(text, at);
      if (at < 0) return false;
    } else {
      if (c === 123 || c === 91) {
        values++;
        if (++depth > maxDepth) return false;
      } else if (c === 125 || c === 93) depth--;
      else if (c === COMMA) values++;
      at++;
    }
  }
  return values <= maxValues;
}

/** @returns the index after the closing quote; -1 when there is none or a surrogate is escaped */
function endOfString(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === QUOTE) return at + 1;
    if (c !== BACKSLASH) continue;
    at++;
    if (text.charCodeAt(at) === 117 && (text.charCodeAt(at + 1) | 32) === 100) return -1; // \ud… or \uD…
  }
  return -1;
}

/** @returns the index after the number; -1 when it has an exponent, more than 15 digits, an integral fraction or is -0 */
function endOfPlainNumber(text: string, start: number): number {
  let at = start;
  let digits = 0;
  let fraction = -1; // the largest digit after the point
  let first = 0;
  if (text.charCodeAt(at) === MINUS) at++;
  for (; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c >= ZERO && c <= NINE) {
      if (digits++ === 0) first = c;
      if (fraction >= 0 && c > fraction) fraction = c;
    } else if (c === POINT) fraction = 0;
    else if ((c | 32) === 101) return -1;
    else break;
  }
  if (digits > 15 || fraction === ZERO) return -1;
  if (fraction < 0 && first === ZERO && text.charCodeAt(start) === MINUS) return -1;
  return at;
}
