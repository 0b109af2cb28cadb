// A reply of several texts, one after the other: as its body, or in pieces where they are long, since one text of megabytes would keep the
// thread while it is made.
import type { Pieces } from '../../resources/api.ts';
import type { HttpReply } from './types.ts';

/** Characters of a piece, and from which on there are pieces. */
const PIECE = 256 * 1024;

/** @returns a reply with status 200 */
export function replyOf(texts: readonly string[]): HttpReply {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return length <= PIECE ? { status: 200, body: texts.join('') } : { status: 200, pieces: inPieces(texts) };
}

function inPieces(texts: readonly string[]): Pieces {
  let at = 0;
  return {
    async next() {
      let piece = '';
      for (; at < texts.length && piece.length < PIECE; at++) piece += texts[at]!;
      return piece === '' ? null : piece;
    },
    async close() {
      at = texts.length;
    },
  };
}
