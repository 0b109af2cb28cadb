// Long texts of a document are stored as pieces in a collection beside it, since a document of the store holds 16 MB at most. The number of
// pieces follows from the text alone, so that the pieces are removed with the document.

import { hash } from 'node:crypto';
import { type Db, type Document, Long, ObjectId } from 'mongodb';
import { piecesOf, placesBeside } from './text-pieces.ts';
import type { Write } from './types.ts';

const BYTES_A_CHARACTER = 4;

/** A text that is stored in pieces: its place among the document's texts, and the number of its pieces. */
export type SplitText = readonly [place: number, pieces: number];

interface Piece extends Document {
  readonly _id: ObjectId;
  readonly text: string;
}

export interface SplitTexts {
  /** The document's texts, sealed; null for those stored in pieces. */
  readonly inside: readonly (string | null)[];
  readonly beside: readonly SplitText[];
  /** The writes that store the pieces. */
  readonly writes: readonly Write[];
  /** Upper bound of the bytes of the texts inside. */
  readonly mostBytes: number;
}

/**
 * @param more further members of each piece, by which pieces are found without their document
 * @param sealed seals a text
 */
export function splitTexts(
  collection: string,
  id: ObjectId,
  texts: readonly string[],
  sealed: (text: string) => string,
  more: Document = {},
): SplitTexts {
  const beside = splitTextsOf(texts);
  const places = new Set(beside.map(([place]) => place));
  return {
    inside: texts.map((text, place) => (places.has(place) ? null : sealed(text))),
    beside,
    writes: beside.flatMap(([place]) =>
      piecesOf(texts[place] ?? '').map((text, n): Write => {
        const document = { _id: pieceId(id, place, n), ars_version: Long.ONE, text: sealed(text), ...more };
        return { collection, op: 'insert', document, mostBytes: BYTES_A_CHARACTER * text.length + 1_000 };
      }),
    ),
    mostBytes: texts.reduce((sum, text, place) => sum + (places.has(place) ? 0 : BYTES_A_CHARACTER * text.length), 0),
  };
}

/** Which of the texts are stored in pieces. */
export const splitTextsOf = (texts: readonly string[]): readonly SplitText[] =>
  placesBeside(texts).map((place) => [place, piecesOf(texts[place] ?? '').length]);

export const removeTexts = (collection: string, id: ObjectId, beside: readonly SplitText[]): Write[] =>
  beside.flatMap(([place, pieces]) =>
    Array.from({ length: pieces }, (_, n): Write => ({ collection, op: 'delete', id: pieceId(id, place, n), version: 1n })),
  );

/** Reads the texts that are stored in pieces, by their places. @throws Error when a piece is missing */
export async function readTexts(
  db: Db,
  collection: string,
  id: ObjectId,
  beside: readonly SplitText[],
  opened: (text: string) => string,
): Promise<ReadonlyMap<number, string>> {
  const texts = new Map<number, string>();
  for (const [place, pieces] of beside) {
    const parts: string[] = [];
    for (let n = 0; n < Number(pieces); n++) {
      const piece = await db.collection<Piece>(collection).findOne({ _id: pieceId(id, Number(place), n) });
      if (!piece) throw new Error(`${collection} lacks a piece of ${id.toHexString()}`);
      parts.push(opened(piece.text));
    }
    texts.set(Number(place), parts.join(''));
  }
  return texts;
}

const pieceId = (id: ObjectId, place: number, n: number): ObjectId =>
  new ObjectId(hash('sha256', `${id.toHexString()}/${place}/${n}`).slice(0, 24));
