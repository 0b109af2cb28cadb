// Errors of commands whose answers are read as bytes (`raw: true`). The driver (7.9.0) leaves the nested documents of such an error as
// bytes, and then fails with a TypeError at the `topologyVersion` of a server that steps down: it misses the new primary, and the caller
// takes a failover for a bug.

import { BSON, type Document } from 'mongodb';
import { Server } from 'mongodb/lib/sdam/server.js';

const REPAIRED = Symbol('errors are read whole');

/** Makes errors independent of how the answer is read. Called before the first client is made; idempotent. */
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
