// spec: resources-and-api.md 4.8
// The files of documents when something fails between file and commit: what a document was given stays, what no document has goes.
import { randomBytes } from 'node:crypto';
import { type Document, MongoClient, type ObjectId } from 'mongodb';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Namespace } from '../../resources/catalog/index.ts';
import { abandon, contentWrites, oneOf, storeContent, sweepContents } from './content-store.ts';

let client: MongoClient;
let space: Namespace;
beforeAll(async () => {
  client = await new MongoClient(String(process.env['CASCADE_TEST_MONGO'])).connect();
  const db = client.db(`contents_${randomBytes(6).toString('hex')}`);
  space = { name: 'tests', storage: { db }, log: pino({ level: 'silent' }) } as unknown as Namespace;
});
afterAll(async () => {
  await space.storage.db.dropDatabase();
  await client.close();
});

const stored = () => storeContent(space, 'a.txt', oneOf(Buffer.from('kept')), 10);
const chunksOf = (file: ObjectId) => space.storage.db.collection('documentFiles.chunks').countDocuments({ files_id: file });
const listed = () => space.storage.db.collection('documentsDoomed');
const age = (file: ObjectId) => listed().updateOne({ _id: file }, { $set: { at: new Date(0) } });

/** What the commit of a document does to the list. @returns whether it finds the entry that it names */
async function commit(content: Awaited<ReturnType<typeof stored>>): Promise<boolean> {
  const [kept] = contentWrites('0'.repeat(24), content, null);
  const { id, version } = kept as { id: ObjectId; version: bigint };
  return (await listed().deleteOne({ _id: id, ars_version: version })).deletedCount === 1;
}

test('a file whose document was stored stays, though the upload was told of a failure', async () => {
  const content = await stored();
  expect(await commit(content)).toBe(true);
  await abandon(space, content.file);
  expect(await chunksOf(content.file)).toBe(1);
});

test('a sweep leaves a file that a document gets between its look and its removal', async () => {
  const content = await stored();
  await age(content.file);
  const { db } = space.storage;
  // The document is stored right after the sweep has seen the entry.
  const between = new Proxy(db, {
    get: (target, name) =>
      name !== 'collection'
        ? Reflect.get(target, name)
        : (of: string) =>
            new Proxy(target.collection(of), {
              get(collection, member) {
                const found: unknown = Reflect.get(collection, member);
                if (typeof found !== 'function') return found;
                if (member !== 'find' || of !== 'documentsDoomed') return found.bind(collection) as unknown;
                return (filter: Document) => ({
                  toArray: async () => {
                    const rows = await collection.find(filter).toArray();
                    expect(await commit(content)).toBe(true);
                    return rows;
                  },
                });
              },
            }),
  });
  await sweepContents({ ...space, storage: { ...space.storage, db: between } });
  expect(await chunksOf(content.file)).toBe(1);
});

test('a file that was removed is given to no document', async () => {
  for (const remove of [(file: ObjectId) => abandon(space, file), () => sweepContents(space)]) {
    const content = await stored();
    await age(content.file);
    await remove(content.file);
    expect(await chunksOf(content.file)).toBe(0);
    expect(await commit(content)).toBe(false);
  }
});
