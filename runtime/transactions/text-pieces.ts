// How long texts are cut that stand beside their document (a document of the store holds 16 MB at most): which of its texts do, and where each is cut.

/** Characters of one text, and of all texts of a document. */
const LONGEST_INSIDE = 1_000_000;
const MOST_INSIDE = 2_000_000;
/** Characters of a piece: no more than 9 MB, sealed. */
export const PIECE = 2_000_000;

/** The places of those texts that stand beside their document, in order. */
export function placesBeside(texts: readonly string[]): number[] {
  const places: number[] = [];
  let total = 0;
  for (const [place, { length }] of texts.entries())
    if (length > LONGEST_INSIDE || total + length > MOST_INSIDE) places.push(place);
    else total += length;
  return places;
}

/** The text in pieces, at least one. A character that is two code units is not parted: the store has no half ones. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let from = 0, end: number; from < text.length || pieces.length === 0; from = end) {
    end = from + PIECE;
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
    pieces.push(text.slice(from, end));
  }
  return pieces;
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
