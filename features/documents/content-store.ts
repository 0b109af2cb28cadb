// Stores the bytes of documents: files of GridFS, which are written once and never changed. A row beside the document names its file. A
// file without such a row (an upload in progress, replaced or deleted content) is listed until it is removed, so that a crash leaves no
// orphan.
import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Binary, type ClientSession, type Db, type Document, GridFSBucket, Long, ObjectId } from 'mongodb';
import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import type { Write } from '../../runtime/transactions/index.ts';
import { idToBson } from '../../model/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';

const CONTENTS = 'documentContents';
const REMOVALS = 'documentsDoomed';
const BUCKET = 'documentFiles';
const CHUNK_BYTES = 255 * 1024;
/** Chunks that a download reads ahead. */
const CHUNKS_AT_A_TIME = 4;
/** An upload in progress renews its list entries at this interval; files whose entry was not renewed for several of them are removed. */
const TOUCH_EVERY_MS = 20_000;
/** The version of an entry whose file is being removed; it is not the one that commits name. */
const CLAIMED = Long.fromNumber(2);
/** Readers of replaced content have this time to finish. */
const GRACE_MS = 120_000;

/** Collections of contents, for copies of a namespace. */
export const CONTENT_COLLECTIONS: readonly string[] = [CONTENTS, `${BUCKET}.files`, `${BUCKET}.chunks`];

/** Drops all contents, of a namespace that has no documents: what is listed for removal may come back by a restore, and would be removed then. */
export async function dropContents(db: Db): Promise<void> {
  // The list goes first: an upload in progress finds its entry gone, and is not stored.
  for (const name of [REMOVALS, ...CONTENT_COLLECTIONS]) await db.collection(name).drop();
}

/** Filter for a copy of a collection: it excludes files that are being uploaded or removed. */
export async function contentFilter(db: Db, collection: string, session: ClientSession): Promise<Document> {
  const file = collection === `${BUCKET}.files` ? '_id' : collection === `${BUCKET}.chunks` ? 'files_id' : null;
  if (file === null) return {};
  const removals = await db.collection(REMOVALS).distinct('_id', {}, { session });
  return { [file]: { $nin: removals } };
}

/** The stored bytes of a document. */
export interface Content {
  readonly file: ObjectId;
  readonly sizeBytes: number;
  /** SHA-256, in lower-case hex. */
  readonly digest: string;
}

/** The row that assigns a document its content, for a version of the document. */
export interface ContentRow extends Content {
  readonly version: bigint;
}

export async function contentOf(space: Pick<Namespace, 'storage'>, documentId: string): Promise<ContentRow | null> {
  const row = await space.storage.db
    .collection(CONTENTS)
    .findOne({ _id: ObjectId.createFromHexString(documentId) }, { promoteLongs: true });
  if (!row) return null;
  return {
    file: row['file'] as ObjectId,
    sizeBytes: Number(row['size']),
    digest: String(row['digest']),
    version: BigInt(row['ars_version'] as number),
  };
}

const contentDocument = (_id: ObjectId, { file, sizeBytes, digest }: Content, version: bigint): Document & { _id: ObjectId } => ({
  _id,
  ars_version: Long.fromBigInt(version),
  file,
  size: Long.fromNumber(sizeBytes),
  digest,
});

/** The writes that assign a file to a document, and list its former file for removal. */
export function contentWrites(documentId: string, content: Content, before: ContentRow | null): Write[] {
  const _id = ObjectId.createFromHexString(documentId);
  const kept: Write = { collection: REMOVALS, op: 'delete', id: content.file, version: 1n };
  if (!before) return [kept, { collection: CONTENTS, op: 'insert', document: contentDocument(_id, content, 1n) }];
  const document = contentDocument(_id, content, before.version + 1n);
  return [kept, { collection: CONTENTS, op: 'replace', id: _id, version: before.version, document }, toRemove(before.file)];
}

const toRemove = (file: ObjectId): Write => ({
  collection: REMOVALS,
  op: 'insert',
  document: { _id: file, ars_version: Long.ONE, at: new Date() },
});

/** Total size of the documents in a database. */
export async function contentBytes(db: Db): Promise<number> {
  const [sum] = await db
    .collection(CONTENTS)
    .aggregate([{ $group: { _id: null, bytes: { $sum: '$size' } } }])
    .toArray();
  return Number(sum?.['bytes'] ?? 0);
}

/** The writes that accompany the deletion of documents. */
export async function contentRemovals(space: Namespace, gone: readonly ObjectValue[]): Promise<Write[]> {
  const ids = gone.map((stored) => idToBson(getOwn(stored, '_id')) as ObjectId);
  const rows = await space.storage.db
    .collection(CONTENTS)
    .find({ _id: { $in: ids } })
    .toArray();
  sweepSoon(space);
  return rows.flatMap((row): Write[] => [
    { collection: CONTENTS, op: 'delete', id: row._id, version: BigInt(row['ars_version'] as number) },
    toRemove(row['file'] as ObjectId),
  ]);
}

/** Creates the collections before a transaction writes to them. */
export async function ensureContentCollections(db: Db): Promise<void> {
  const there = new Set((await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name));
  for (const name of [CONTENTS, REMOVALS, `${BUCKET}.files`, `${BUCKET}.chunks`])
    if (!there.has(name)) await db.createCollection(name).catch(ignoreExisting);
  await db.collection(`${BUCKET}.chunks`).createIndex({ files_id: 1, n: 1 }, { unique: true });
}

const ignoreExisting = (error: unknown): void => {
  if ((error as { codeName?: unknown }).codeName !== 'NamespaceExists') throw error;
};

/** Bytes that are there as a whole, for `storeContent`. */
export async function* oneOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/**
 * Stores bytes as they arrive, no faster than the store accepts them. A file that is not assigned to a document is removed by `abandon`, or
 * by a later sweep.
 * @throws document.too.large
 */
export async function storeContent(space: Namespace, name: string, bytes: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Content> {
  const file = new ObjectId();
  await space.storage.db.collection(REMOVALS).insertOne({ _id: file, ars_version: Long.ONE, at: new Date() });
  const kept = keepListed(space, () => [file]);
  const hash = createHash('sha256');
  let sizeBytes = 0;
  try {
    const upload = new GridFSBucket(space.storage.db, { bucketName: BUCKET, chunkSizeBytes: CHUNK_BYTES }).openUploadStreamWithId(
      file,
      name,
    );
    await pipeline(
      bytes,
      async function* (source: AsyncIterable<Uint8Array>) {
        for await (const piece of source) {
          sizeBytes += piece.byteLength;
          if (sizeBytes > limitBytes) throw apiError('cascade.document.too.large', name, `more than ${limitBytes} bytes`);
          hash.update(piece);
          yield piece;
        }
      },
      upload as Writable,
    );
    return { file, sizeBytes, digest: hash.digest('hex') };
  } catch (error) {
    await abandon(space, file);
    throw error;
  } finally {
    kept[Symbol.dispose]();
  }
}

/** Keeps sweeps from files that wait for their document, such as the first parts of an upload for its last one, until it is closed. */
export function keepListed(space: Namespace, files: () => ObjectId[]): Disposable {
  const removals = space.storage.db.collection<{ _id: ObjectId }>(REMOVALS);
  const touch = (): void => void removals.updateMany({ _id: { $in: files() } }, { $set: { at: new Date() } }).catch(() => undefined); // the next one
  const timer = setInterval(touch, TOUCH_EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Removes a file without a document; after a failure the sweep removes it. One that a document has got meanwhile stays. */
export async function abandon(space: Namespace, file: ObjectId): Promise<void> {
  try {
    await removeListed(space.storage.db, { _id: file });
  } catch (error) {
    space.log.warn({ err: error, namespace: space.name }, 'the file of a document could not be removed; a sweep will retry');
    sweepSoon(space);
  }
}

/**
 * Removes a file while it is listed. The entry is claimed first, by another version: a commit that gives the file to a document takes the
 * entry away, so either it came before, and the file stays, or it fails. An error of a commit alone does not tell whether it happened.
 */
async function removeListed(db: Db, entry: { readonly _id: ObjectId; readonly at?: Document }): Promise<void> {
  const removals = db.collection(REMOVALS);
  if ((await removals.updateOne(entry, { $set: { ars_version: CLAIMED } })).matchedCount === 0) return;
  const { _id: file } = entry;
  await db.collection(`${BUCKET}.files`).deleteOne({ _id: file });
  await db.collection(`${BUCKET}.chunks`).deleteMany({ files_id: file });
  await removals.deleteOne({ _id: file });
}

/** Removes files without a document that nothing reads or writes any more. */
export async function sweepContents(space: Namespace): Promise<void> {
  const { db } = space.storage;
  const at = { $lt: new Date(Date.now() - GRACE_MS) };
  const rows = await db.collection<{ _id: ObjectId }>(REMOVALS).find({ at }, { limit: 1_000 }).toArray();
  for (const { _id } of rows) await removeListed(db, { _id, at });
}

/** Schedules a sweep for the end of the grace period of files that were listed just now. */
export function sweepSoon(space: Namespace): void {
  setTimeout(() => {
    sweepContents(space).catch((error: unknown) =>
      space.log.debug({ err: error, namespace: space.name }, 'files of documents could not be removed; a later sweep will retry'),
    );
  }, GRACE_MS + 1_000).unref();
}

/** Reads the bytes from `from` up to, but not including, `to`, a few chunks at a time. */
export function readContent(space: Pick<Namespace, 'storage'>, { file, digest }: Content, from: number, to: number) {
  const first = Math.floor(from / CHUNK_BYTES);
  const last = Math.max(first, Math.ceil(to / CHUNK_BYTES) - 1);
  const cursor = space.storage.db
    .collection(`${BUCKET}.chunks`)
    .find(
      { files_id: file, n: { $gte: first, $lte: last } },
      { sort: { n: 1 }, batchSize: CHUNKS_AT_A_TIME, projection: { n: 1, data: 1 } },
    );
  let expected = first;
  return {
    async next(): Promise<Buffer | null> {
      if (expected > last || from === to) return null;
      const chunk = await cursor.next();
      if (!chunk || chunk['n'] !== expected) throw new Error(`the content ${digest} of a document is not complete`);
      const start = expected * CHUNK_BYTES;
      expected++;
      const { buffer, position } = chunk['data'] as Binary;
      const data = Buffer.from(buffer.buffer, buffer.byteOffset, position);
      return data.subarray(Math.max(0, from - start), Math.min(data.length, to - start));
    },
    close: () => cursor.close(),
  };
}
