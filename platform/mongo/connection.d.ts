// The part of the driver's connection that `connection-writes.ts` and `pipelined-inserts.ts` stand on; mongodb is pinned exactly for it.

declare module 'mongodb/lib/cmap/connection.js' {
  import type { EventEmitter } from 'node:events';
  import type { Socket } from 'node:net';
  import type { Readable } from 'node:stream';
  import type { Document } from 'mongodb';

  /** A message as it is handed to the connection. */
  export interface SentCommand {
    readonly command?: Document;
    /** The message in pieces. */
    toBin(): Uint8Array[];
  }

  export interface WriteOptions {
    readonly signal?: AbortSignal;
    /** Absent, or 'none': messages are not compressed. */
    readonly agreedCompressor?: string;
  }

  export class Connection extends EventEmitter {
    static readonly CLOSE: 'close';
    constructor(socket: Socket, options: object);
    readonly socket: Socket;
    readonly messageStream: Readable;
    /** Where what comes in goes; it is told when the connection is closed. */
    dataEvents: AsyncIterable<unknown> | null;
    /** Why it was closed. */
    readonly error: Error | null;
    /** Closes it; what is under way fails with the error. */
    onError(error: Error): void;
    destroy(): void;
    writeCommand(command: SentCommand, options: WriteOptions): Promise<void>;
    /** The answers to the command that was written last. */
    readMany(options: object): AsyncGenerator;
    command(namespace: object, command: object, options?: object): Promise<unknown>;
  }
}

declare module 'mongodb/lib/cmap/wire_protocol/on_data.js' {
  import type { Readable } from 'node:stream';
  export function onData(stream: Readable, options: object): AsyncIterable<object>;
}

declare module 'mongodb/lib/cmap/wire_protocol/compression.js' {
  export function decompressResponse(message: object): Promise<{ parse(): Uint8Array }>;
}
