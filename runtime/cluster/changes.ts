// What is committed to the collections of all namespaces that other processes follow, in the order of the commits: one change stream a process.

import type { ChangeStream, ChangeStreamDocument, Document, MongoClient, ObjectId, ResumeToken } from 'mongodb';
import { Backoff } from '../../platform/mongo/index.ts';

export interface Change {
  /** The database. */
  readonly database: string;
  readonly collection: string;
  readonly id: ObjectId;
  /** The document as it was stored; null: it is removed. */
  readonly document: Document | null;
  /** Of an update in place, which does not say what the whole document is: the members that are others now. */
  readonly updated?: readonly string[];
}

/**
 * Resolves once it listens: what is committed from then on is told, each change after the one before has been taken in.
 * @param onGap changes may have been missed: everything has to be looked at again
 * @param onError told; it goes on by itself
 */
export async function openChanges(
  client: MongoClient,
  collections: readonly string[],
  onChange: (change: Change) => Promise<void>,
  onGap: () => Promise<void>,
  onError: (error: unknown) => void,
): Promise<AsyncDisposable> {
  let isOpen = true;
  let token: ResumeToken = null;
  const watch = (): ChangeStream =>
    client.watch(
      [{ $match: { 'ns.coll': { $in: collections } } }],
      token ? { resumeAfter: token, batchSize: 1_000 } : { batchSize: 1_000 },
    );
  let stream = watch();
  await stream.tryNext(); // the stream is at the server from here on
  const backoff = new Backoff();
  const round = async (): Promise<void> => {
    while (isOpen) {
      try {
        const change = toChange(await stream.next());
        if (change) await onChange(change);
        token = stream.resumeToken ?? token;
        backoff.reset();
      } catch (error) {
        if (!isOpen) return;
        onError(error);
        await stream.close().catch(() => undefined); // it has failed already
        await backoff.pause();
        if (!isOpen) return;
        // What the token names may be gone from the store's log.
        token = null;
        stream = watch();
        await onGap().catch(onError);
      }
    }
  };
  const listening = round();
  return {
    async [Symbol.asyncDispose]() {
      isOpen = false;
      await stream.close().catch(() => undefined);
      await listening;
    },
  };
}

function toChange(change: ChangeStreamDocument): Change | null {
  if (change.operationType === 'update') {
    const updated = [...Object.keys(change.updateDescription.updatedFields ?? {}), ...(change.updateDescription.removedFields ?? [])];
    return { database: change.ns.db, collection: change.ns.coll, id: change.documentKey._id, document: null, updated };
  }
  if (change.operationType !== 'insert' && change.operationType !== 'replace' && change.operationType !== 'delete') return null;
  const document = change.operationType === 'delete' ? null : change.fullDocument;
  return { database: change.ns.db, collection: change.ns.coll, id: change.documentKey._id, document };
}
