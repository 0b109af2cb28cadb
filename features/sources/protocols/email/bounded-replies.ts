// Bounds what an SMTP server may say before its reply is complete: the library keeps all of it, and goes through it again with each line.
import SMTPConnection from 'nodemailer/lib/smtp-connection/index.js';

/** Replies have some hundred bytes; those to EHLO are the longest. */
const MOST_BYTES = 16 * 1024;

/** What of the library's connection is not in its types. */
interface Internals {
  _onData(chunk: Buffer): void;
  _onError(error: Error, code: string, response: false, command: string): void;
  readonly _remainder: string;
  readonly _responseQueue: readonly string[];
}

const unanswered = new WeakMap<Internals, number>();
let isBounded = false;

/** Bounds the replies on all connections of the library. Idempotent. */
export function boundReplies(): void {
  if (isBounded) return;
  isBounded = true;
  const connection = SMTPConnection.prototype as unknown as Internals;
  const { _onData: take } = connection;
  connection._onData = function (chunk) {
    const bytes = (unanswered.get(this) ?? 0) + chunk.length;
    if (bytes > MOST_BYTES) {
      this._onError(new Error(`the server says more than ${MOST_BYTES} bytes at once`), 'EPROTOCOL', false, 'CONN');
      return;
    }
    take.call(this, chunk);
    unanswered.set(this, this._remainder === '' && this._responseQueue.length === 0 ? 0 : bytes);
  };
}
