// Long texts of a document that is written through the committer stand in pieces beside it, since a document of the store holds 16 MB at most. How
// many pieces a text has follows from the text alone: whoever removes the document removes them, too.

import { hash } from 'node:crypto';
import { type Db, type Document, Long, ObjectId } from 'mongodb';
import { piecesOf, placesBeside } from './text-pieces.ts';
import type { Write } from './types.ts';

const BYTES_A_CHARACTER = 4;

/** Of a text that stands beside its document: its place among the texts, and in how many pieces. */
export type SplitText = readonly [place: number, pieces: number];

interface Piece extends Document {
  readonly _id: ObjectId;
  readonly text: string;
}

export interface SplitTexts {
  /** The texts that the document keeps, sealed; null for those beside it. */
  readonly inside: readonly (string | null)[];
  readonly beside: readonly SplitText[];
  /** What stores the others. */
  readonly writes: readonly Write[];
  /** What the texts inside take at most. */
  readonly mostBytes: number;
}

/**
 * @param more members of each piece, by which they are found without their document
 * @param sealed what is stored of a text
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

/** Which of the texts stand beside their document. */
export const splitTextsOf = (texts: readonly string[]): readonly SplitText[] =>
  placesBeside(texts).map((place) => [place, piecesOf(texts[place] ?? '').length]);

export const removeTexts = (collection: string, id: ObjectId, beside: readonly SplitText[]): Write[] =>
  beside.flatMap(([place, pieces]) =>
    Array.from({ length: pieces }, (_, n): Write => ({ collection, op: 'delete', id: pieceId(id, place, n), version: 1n })),
  );

/** The texts that stand beside the document, by their places. @throws Error when a piece is missing */
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
