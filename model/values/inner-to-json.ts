// Inner JSON, which programs give, as the JSON that clients see, text to text: no values are made of what stays as it is, so that a long result takes no
// longer than reading it.
import { fromInner, INNER_MARK, isPlainInner } from '../../stdlib/values/index.ts';
import { toJson } from './to-json.ts';

/** The same text as that of `toJson` for the value. */
export function innerToJson(inner: string): string {
  if (isPlainInner(inner)) return inner;
  let json = '';
  for (const piece of innerInPieces(inner, inner.length)) json += piece;
  return json;
}

/** Escapes in a piece: each takes about a microsecond. */
const MOST_ESCAPES = 1_000;

/** The same in pieces of about so many characters at most, each made within a millisecond or so when it is asked for. */
export function* innerInPieces(inner: string, pieceChars: number): Generator<string> {
  let piece = '';
  let from = 0;
  let escapes = 0;
  for (let mark = inner.indexOf(INNER_MARK); mark >= 0; ) {
    while (mark - from > pieceChars) {
      const to = wholeCharacter(inner, from + pieceChars);
      yield piece + inner.slice(from, to);
      [piece, from] = ['', to];
    }
    let next = mark + INNER_MARK.length;
    if (beginsString(inner, mark)) {
      next = endOfString(inner, next);
      // A member's name is no value, whatever it begins with.
      if (inner[next] !== ':') {
        piece += inner.slice(from, mark - 1) + toJson(fromInner(JSON.parse(inner.slice(mark - 1, next))));
        from = next;
      }
    }
    if (piece.length >= pieceChars || ++escapes > MOST_ESCAPES) {
      yield piece;
      [piece, escapes] = ['', 0];
    }
    mark = inner.indexOf(INNER_MARK, next);
  }
  while (inner.length - from > pieceChars) {
    const to = wholeCharacter(inner, from + pieceChars);
    yield piece + inner.slice(from, to);
    [piece, from] = ['', to];
  }
  yield piece + inner.slice(from);
}

/** Pieces are encoded one by one, so none may end within a surrogate pair. */
const wholeCharacter = (text: string, at: number): number => ((text.charCodeAt(at - 1) & 0xfc00) === 0xd800 ? at + 1 : at);

/** Inside a string a quote has a backslash before it. */
const beginsString = (inner: string, at: number): boolean => inner[at - 1] === '"' && inner[at - 2] !== '\\';

/** The index behind the closing quote. */
function endOfString(inner: string, from: number): number {
  for (let at = inner.indexOf('"', from); ; at = inner.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (inner[at - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
}
