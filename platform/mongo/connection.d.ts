// The part of the driver's connection that `connection-writes.ts` stands on; mongodb is pinned exactly for it.

declare module 'mongodb/lib/cmap/connection.js' {
  import type { EventEmitter } from 'node:events';
  import type { Socket } from 'node:net';

  export class Connection extends EventEmitter {
    static readonly CLOSE: 'close';
    constructor(socket: Socket, options: object);
    /** Why it was closed. */
    readonly error: Error | null;
    /** Closes it; what is under way fails with the error. */
    onError(error: Error): void;
    destroy(): void;
    writeCommand(command: object, options: { readonly signal?: AbortSignal }): Promise<void>;
    command(namespace: object, command: object, options?: object): Promise<unknown>;
  }
}
