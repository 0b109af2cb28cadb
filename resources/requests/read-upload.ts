// What is read of an upload, in a digest by which a repeated one is told from another: names, media types and bytes of its parts.
import { createHash } from 'node:crypto';
import { apiError } from '../../model/errors/index.ts';
import type { Transfer, UploadedPart } from '../api.ts';

export type Upload = Extract<Transfer, { kind: 'upload' }>;

/** An upload whose digest is complete when its parts have been read. */
export class ReadUpload {
  /** The digest of the request without its parts. */
  readonly head: string;
  readonly transfer: Upload;
  readonly #read: string[] = [];

  constructor(upload: Upload, head: string) {
    this.head = head;
    this.transfer = { ...upload, parts: this.#noted(upload) };
  }

  digest(): string {
    return createHash('sha256')
      .update(JSON.stringify([this.head, this.#read]))
      .digest('hex');
  }

  /** Reads the parts and keeps nothing of them. @throws document.too.large, as where they are stored */
  async rest(): Promise<void> {
    for await (const { name, bytes } of this.transfer.parts) {
      let sizeBytes = 0;
      const { limitBytes } = this.transfer;
      for await (const piece of bytes) {
        sizeBytes += piece.byteLength;
        if (sizeBytes > limitBytes) throw apiError('cascade.document.too.large', name, `more than ${limitBytes} bytes`);
      }
    }
  }

  async *#noted({ parts }: Upload): AsyncGenerator<UploadedPart> {
    for await (const { name, fileType, bytes } of parts) {
      const hash = createHash('sha256');
      const noting = async function* (): AsyncGenerator<Uint8Array> {
        for await (const piece of bytes) {
          hash.update(piece);
          yield piece;
        }
      };
      yield { name, fileType, bytes: noting() };
      this.#read.push(JSON.stringify([name, fileType, hash.digest('hex')]));
    }
  }
}
