// Decides which texts of a document are stored in pieces, and where each is split (a document of the store holds 16 MB at most).

import { wholeUntil } from '../../stdlib/values/index.ts';

/** Bound of one text, and of all texts of a document, in characters. */
const LONGEST_INSIDE = 1_000_000;
const MOST_INSIDE = 2_000_000;
/** Characters of a piece: at most 9 MB when sealed. */
export const PIECE = 2_000_000;

/** The places of the texts that are stored in pieces, in order. */
export function placesBeside(texts: readonly string[]): number[] {
  const places: number[] = [];
  let total = 0;
  for (const [place, { length }] of texts.entries())
    if (length > LONGEST_INSIDE || total + length > MOST_INSIDE) places.push(place);
    else total += length;
  return places;
}

/** Splits the text, into one piece at least. Surrogate pairs stay together: the store has no half characters. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let from = 0, end: number; from < text.length || pieces.length === 0; from = end) {
    end = from + PIECE < text.length ? wholeUntil(text, from + PIECE) : from + PIECE;
    pieces.push(text.slice(from, end));
  }
  return pieces;
}
