// What the driver's own bulk writes hand documents over in, as bytes that it puts behind the command in the message. It is not of the
// driver's public types: platform/mongo/insert.ts is its only user, and its test holds that what is inserted that way is there.
declare module 'mongodb/lib/cmap/commands.js' {
  import type { Document } from 'mongodb';

  export class DocumentSequence {
    constructor(field: string);
    documents: readonly Document[];
    push(document: Document, bytes: Uint8Array): number;
  }
}
