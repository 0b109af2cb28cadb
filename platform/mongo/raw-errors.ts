// Errors of commands whose answers are read as bytes (`raw: true`). The driver (7.9.0) builds them from an answer whose documents within are bytes too, and
// then fails with a TypeError at the `topologyVersion` of a server that steps down: it does not notice that the primary is another, and who has asked takes a
// failover for a fault of the program.

import { BSON, type Document } from 'mongodb';
import { Server } from 'mongodb/lib/sdam/server.js';

const REPAIRED = Symbol('errors are read whole');

/** Makes errors the same however the answer is read. To be called before the first client is made; more often changes nothing. */
export function readErrorsWhole(): void {
  const prototype = Server.prototype as Server & { [REPAIRED]?: true };
  if (prototype[REPAIRED]) return;
  const { handleError } = prototype;
  prototype[REPAIRED] = true;
  prototype.handleError = function (this: Server, error, connection) {
    const { topologyVersion } = error as { topologyVersion?: Uint8Array | Document };
    if (topologyVersion instanceof Uint8Array) Object.assign(error as object, { topologyVersion: BSON.deserialize(topologyVersion) });
    return handleError.call(this, error, connection);
  };
}
