// A backup as one text, for bindings that cannot stream; and what is done between its opening and the hand-over of its pieces.
import { apiError } from '../../model/errors/index.ts';
import type { Pieces } from '../../resources/api.ts';

/** Characters of a backup that is one text: a larger namespace would take the memory of all others. */
const MOST_OF_A_TEXT = 64 * 1_048_576;

/** Joins the pieces. @throws query.too.expensive */
export async function whole(pieces: Pieces, most = MOST_OF_A_TEXT): Promise<string> {
  const found: string[] = [];
  let length = 0;
  try {
    for (let piece; (piece = await pieces.next()) !== null; ) {
      length += piece.length;
      if (length > most) throw apiError('cascade.query.too.expensive', 'memory');
      found.push(piece);
    }
  } finally {
    await pieces.close();
  }
  return found.join('');
}

/** Closes the pieces where the work before their hand-over fails: nobody else would, and they hold a session of the store. */
export async function handedOver(pieces: Pieces, before: () => Promise<void>): Promise<Pieces> {
  try {
    await before();
  } catch (error) {
    await pieces.close();
    throw error;
  }
  return pieces;
}
