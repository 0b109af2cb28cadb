// Commands whose connection breaks while they are written. The driver (7.9.0) waits for the socket's `drain` alone: a socket that was
// destroyed meanwhile never drains, and the command never ends, nor does what waits for it; one that the server has closed fails with
// Node's own EPIPE, which carries none of the driver's labels, so that nobody would know that the same may work in a moment.

import { MongoError, MongoNetworkError } from 'mongodb';
import { Connection } from 'mongodb/lib/cmap/connection.js';

const REPAIRED = Symbol('writes end with their connection');

/** Makes each command fail with its connection, by an error of the driver's own. Called before the first client is made; idempotent. */
export function endWritesWithTheirConnection(): void {
  const prototype = Connection.prototype as Connection & { [REPAIRED]?: true };
  if (prototype[REPAIRED]) return;
  const { writeCommand } = prototype;
  prototype[REPAIRED] = true;
  prototype.writeCommand = function (this: Connection, command, options) {
    return new Promise<void>((resolve, reject) => {
      const closed = (): void => reject(this.error ?? new MongoNetworkError('the connection was closed while a command was written'));
      const end = (): void => void this.off(Connection.CLOSE, closed);
      this.once(Connection.CLOSE, closed);
      writeCommand.call(this, command, options).then(
        () => {
          end();
          resolve();
        },
        (reason: unknown) => {
          end();
          reject(asNetworkError(this, reason, options.signal));
        },
      );
    });
  };
}

/** The error of the socket, as the driver wraps it at all other moments; the connection is closed. */
function asNetworkError(connection: Connection, reason: unknown, signal: AbortSignal | undefined): unknown {
  if (reason instanceof MongoError || (signal?.aborted && reason === signal.reason) || !(reason instanceof Error)) return reason;
  const error = new MongoNetworkError(reason.message, { cause: reason });
  connection.onError(error);
  return error;
}
