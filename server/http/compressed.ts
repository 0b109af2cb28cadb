// Compresses pieces of text by gzip while they are sent.
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { Pieces } from '../../resources/api.ts';

/** A long body in its form on the wire. */
export interface WirePieces {
  next(): Promise<string | Buffer | null>;
  close(): Promise<void>;
}

export function compressed(pieces: Pieces): WirePieces {
  const text = Readable.from(
    (async function* () {
      for (let piece = await pieces.next(); piece !== null; piece = await pieces.next()) yield piece;
    })(),
    { objectMode: false, highWaterMark: 1 },
  );
  const gzip = createGzip();
  text.once('error', (error) => gzip.destroy(error));
  text.pipe(gzip);
  const chunks = gzip.iterator() as AsyncIterator<Buffer>;
  return {
    next: async () => {
      const { done, value } = await chunks.next();
      return done ? null : value;
    },
    close: async () => {
      text.destroy();
      gzip.destroy();
      await pieces.close();
    },
  };
}
