// Inserts of a transaction that are sent in front of its next command, on the connection of that command and without waiting for their own
// answers: a transaction of inserts takes one round trip and one pass through the driver (7.9.0), which knows no pipelining, in place of
// one for each statement. A statement that fails aborts the transaction, and the store then refuses all that follows it.

import { BSON, type ClientSession, type Document, type MongoClient, MongoError, MongoNetworkError } from 'mongodb';
import { Connection, type SentCommand } from 'mongodb/lib/cmap/connection.js';
import { OpMsgRequest } from 'mongodb/lib/cmap/commands.js';
import { decompressResponse } from 'mongodb/lib/cmap/wire_protocol/compression.js';
import { onData } from 'mongodb/lib/cmap/wire_protocol/on_data.js';
import { type Inserted, insertCommand, type WriteError } from './writes.ts';

/** What the driver keeps of a session, and does not show; mongodb is pinned exactly for it. */
export interface SessionInternals {
  readonly serverSession: { readonly id: object };
  readonly transaction: { transition(state: 'TRANSACTION_IN_PROGRESS' | 'TRANSACTION_COMMITTED'): void };
  readonly client: MongoClient;
}

export interface PipelinedInsert {
  readonly db: string;
  readonly collection: string;
  readonly documents: readonly Inserted[];
}

const MAX_TIME_IS_UP = 50;
/** UnknownReplWriteConcern, UnsatisfiableWriteConcern: no server will hold what was asked for. */
const NEVER_HELD = new Set<unknown>([79, 100]);
/** As the driver's own: what a majority does not hold by then is in doubt. */
const COMMIT_IN_MS = 10_000;

/** The inserts of one transaction, and what the store has answered to them. */
export class Pipeline implements Disposable {
  readonly inserts: readonly PipelinedInsert[];
  /** In their order; fewer when the connection broke. */
  readonly replies: Document[] = [];
  readonly #session: SessionInternals;

  constructor(session: SessionInternals, inserts: readonly PipelinedInsert[]) {
    this.#session = session;
    this.inserts = inserts;
    waiting.set(session.serverSession.id, this);
  }

  /** The first insert that the store has refused; null: none that it has answered. */
  get refused(): { readonly place: number; readonly errors: readonly WriteError[]; readonly reply: Document } | null {
    const place = this.replies.findIndex(({ ok, writeErrors }) => ok !== 1 || writeErrors !== undefined);
    const reply = this.replies[place];
    return reply ? { place, reply, errors: (reply['writeErrors'] ?? []) as WriteError[] } : null;
  }

  /** Nothing of it is sent any more. */
  [Symbol.dispose](): void {
    waiting.delete(this.#session.serverSession.id);
  }
}

/** Pipelines whose session has sent no command yet, by the id of the session as it stands in commands. */
const waiting = new WeakMap<object, Pipeline>();

/** The pipeline that goes out with this command; it counts as sent from then on. */
export function pipelineOf(sessionId: object): Pipeline | null {
  const pipeline = waiting.get(sessionId) ?? null;
  waiting.delete(sessionId);
  return pipeline;
}

/** The session's transaction, which has sent nothing yet, begins with these inserts. */
export function pipelineInserts(session: ClientSession, inserts: readonly PipelinedInsert[]): Pipeline {
  sendPipelines();
  const internals = session as unknown as SessionInternals;
  internals.transaction.transition('TRANSACTION_IN_PROGRESS'); // the driver's next command does not begin it
  return new Pipeline(internals, inserts);
}

/**
 * Commits the session's transaction. With a pipeline that nobody has answered yet it makes one attempt, where the driver makes two: the second,
 * on a connection of its own, could be answered before the inserts that are still under way, and say that there is no such transaction.
 * @throws MongoError with the label `UnknownTransactionCommitResult` where the outcome is in doubt
 */
export async function commitPipelined(session: ClientSession, pipeline: Pipeline, writeConcern: Document): Promise<void> {
  if (pipeline.replies.length === pipeline.inserts.length) return session.commitTransaction();
  const { client, transaction } = session as unknown as SessionInternals;
  const admin = client.db('admin');
  try {
    const command = { commitTransaction: 1, writeConcern: { ...writeConcern, wtimeout: COMMIT_IN_MS } };
    await admin.command(command, { session });
  } catch (error) {
    if (error instanceof MongoError && isInDoubt(error)) error.addErrorLabel('UnknownTransactionCommitResult');
    // What the store has got of it would hold its locks for a minute.
    if (error instanceof MongoNetworkError) await admin.command({ abortTransaction: 1 }, { session }).catch(() => undefined);
    throw error;
  } finally {
    transaction.transition('TRANSACTION_COMMITTED');
  }
}

/** By the rules of the specification of transactions for drivers. */
function isInDoubt(error: MongoError): boolean {
  if (error instanceof MongoNetworkError || error.hasErrorLabel('RetryableWriteError') || error.code === MAX_TIME_IS_UP) return true;
  return error.name === 'MongoWriteConcernError' && !NEVER_HELD.has(error.code);
}

const REPAIRED = Symbol('commands are pipelined');

/** Teaches connections to send pipelines; idempotent. */
function sendPipelines(): void {
  const prototype = Connection.prototype as Connection & { [REPAIRED]?: true };
  if (prototype[REPAIRED]) return;
  const { writeCommand } = prototype;
  prototype[REPAIRED] = true;
  prototype.writeCommand = function (this: Connection, message, options) {
    const sessionId = message.command?.['lsid'] as object | undefined;
    const pipeline = sessionId ? pipelineOf(sessionId) : null;
    if (!pipeline || this.error) return writeCommand.call(this, message, options);
    const before = pipeline.inserts.flatMap((insert, place) => messageOf(insert, place === 0, message).toBin());
    this.readMany = (how) => readAfter(this, pipeline, how);
    if (options.agreedCompressor === undefined || options.agreedCompressor === 'none') {
      // One write: each wakes the server up, which takes longer than all that is written here.
      const own = message.toBin();
      message.toBin = () => [...before, ...own];
    } else this.socket.write(Buffer.concat(before)); // only the command is compressed
    return writeCommand.call(this, message, options);
  };
}

function messageOf({ db, collection, documents }: PipelinedInsert, isFirst: boolean, { command }: SentCommand): OpMsgRequest {
  const { lsid, txnNumber } = command as Document;
  const begin = isFirst ? { startTransaction: true, readConcern: { level: 'local' } } : {};
  const insert = insertCommand(
    collection,
    documents.map(({ document }) => document),
  );
  return new OpMsgRequest(db, { ...insert, lsid, txnNumber, autocommit: false, ...begin }, {});
}

/** The driver's `readMany` of one command, behind the answers to a pipeline. */
async function* readAfter(connection: Connection, { inserts, replies }: Pipeline, options: object): AsyncGenerator {
  Reflect.deleteProperty(connection, 'readMany'); // that of the prototype again
  const events = onData(connection.messageStream, options);
  try {
    connection.dataEvents = events;
    connection.messageStream.resume();
    for await (const message of events) {
      const response = await decompressResponse(message);
      if (replies.length === inserts.length) {
        yield response;
        return;
      }
      replies.push(BSON.deserialize(response.parse()));
    }
  } finally {
    connection.dataEvents = null;
    connection.messageStream.pause();
  }
}
