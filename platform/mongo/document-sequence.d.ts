// What the driver's own bulk writes hand documents over in, as bytes that it puts behind the command in the message, and the message itself.
// They are not of the driver's public types: only `writes.ts` and `pipelined-inserts.ts` of this folder use them, and their tests hold that
// what is inserted that way is there.
declare module 'mongodb/lib/cmap/commands.js' {
  import type { Document } from 'mongodb';

  export class DocumentSequence {
    constructor(field: string);
    documents: readonly Document[];
    push(document: Document, bytes: Uint8Array): number;
  }

  export class OpMsgRequest {
    constructor(db: string, command: Document, options: object);
    /** The message in pieces. */
    toBin(): Uint8Array[];
  }
}
