// The change stream of a process: changes of the collections that other processes follow, in all namespaces, in the order of the commits.

import { once } from 'node:events';
import type { ChangeStream, ChangeStreamDocument, Document, MongoClient, ObjectId } from 'mongodb';
import { Backoff } from '../../platform/mongo/index.ts';

export interface Change {
  readonly database: string;
  readonly collection: string;
  readonly id: ObjectId;
  /** The stored document; null: it was deleted. */
  readonly document: Document | null;
  /** The changed members of an update in place, whose event lacks the whole document. */
  readonly updated?: readonly string[];
}

/**
 * Resolves once the stream is open: `onChange` gets every change from then on, one after the other. Closing it waits for the call under way.
 * @param onGap changes may have been missed: everything has to be read again
 * @param onError gets errors; the stream is opened again by itself
 */
export async function openChanges(
  client: MongoClient,
  collections: readonly string[],
  onChange: (change: Change) => Promise<void>,
  onGap: () => Promise<void>,
  onError: (error: unknown) => void,
): Promise<AsyncDisposable> {
  let isOpen = true;
  // The client resumes it by itself where the oplog reaches back; one that has failed begins anew, and everything is read again.
  const watch = (): ChangeStream => client.watch([{ $match: { 'ns.coll': { $in: collections } } }], { batchSize: 1_000 });
  let stream = watch();
  let next = stream.next();
  await opened(stream, next).catch(async (error: unknown) => {
    await stream.close().catch(() => undefined); // it has failed already
    throw error;
  });
  const backoff = new Backoff();
  let calling: Promise<void> = Promise.resolve();
  const round = async (): Promise<void> => {
    while (isOpen) {
      try {
        const change = toChange(await next);
        if (!isOpen) return;
        if (change) await (calling = onChange(change));
        backoff.reset();
        if (isOpen) next = stream.next();
      } catch (error) {
        if (!isOpen) return;
        onError(error);
        await stream.close().catch(() => undefined); // the stream has failed already
        await backoff.pause();
        if (!isOpen) return;
        stream = watch();
        next = stream.next();
        // Open before everything is read again: what changes from then on is in it. An error of it comes again with its first change.
        await opened(stream, next).catch(() => undefined);
        if (isOpen) await (calling = onGap().catch(onError));
      }
    }
  };
  void round();
  return {
    async [Symbol.asyncDispose]() {
      isOpen = false;
      await stream.close().catch(() => undefined);
      // And not for the next change: the database answers that read up to a second after the stream is closed.
      await calling.catch(() => undefined); // told already
    },
  };
}

/** Waits until the server has opened the stream, which it tells at once, whereas the first change comes when there is one. */
async function opened(stream: ChangeStream, first: Promise<unknown>): Promise<void> {
  await Promise.race([once(stream, 'resumeTokenChanged'), first]);
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
