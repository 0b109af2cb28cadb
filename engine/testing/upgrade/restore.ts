// Restores the data that scripts/record-data.mjs has recorded: documents and indexes of another build of the service.
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { BSON, type Document, MongoClient } from 'mongodb';

export interface Recorded {
  /** The master key in 64 hexadecimal digits. */
  readonly masterKey: string;
  /** The expected counts at the end. */
  readonly expected: Readonly<Record<'orders' | 'longOpen' | 'justOpened' | 'redelivered' | 'planned', number>>;
}

export async function restore(file: URL, uri: string): Promise<Recorded> {
  const bytes = await promisify(brotliDecompress)(await readFile(file));
  let offset = 0;
  const next = (): Document => {
    const size = bytes.readInt32LE(offset);
    offset += size;
    // Numbers and binary data keep their BSON types.
    return BSON.deserialize(bytes.subarray(offset - size, offset), { promoteValues: false });
  };
  const head = BSON.deserialize(bytes.subarray(0, (offset = bytes.readInt32LE(0))));
  const client = await new MongoClient(uri).connect();
  try {
    while (offset < bytes.length) {
      const { database, name, options, indexes, documents } = BSON.deserialize(BSON.serialize(next()));
      const db = client.db(String(database));
      const collection = await db.createCollection(String(name), options as object);
      const rows = Array.from({ length: Number(documents) }, next);
      for (let from = 0; from < rows.length; from += 500) await collection.insertMany(rows.slice(from, from + 500));
      for (const { key, v: _, ...index } of indexes as (Document & { key: Document })[]) await collection.createIndex(key, index);
    }
  } finally {
    await client.close();
  }
  return head as unknown as Recorded;
}
