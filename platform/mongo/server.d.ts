// The part of the driver's server that `raw-errors.ts` stands on; mongodb is pinned exactly for it.

declare module 'mongodb/lib/sdam/server.js' {
  import type { EventEmitter } from 'node:events';

  export class Server extends EventEmitter {
    static readonly DESCRIPTION_RECEIVED: 'descriptionReceived';
    /** Looks what an error says of the server, so that the next command goes to one that can do it. */
    handleError(error: unknown, connection?: object): void;
  }
}
