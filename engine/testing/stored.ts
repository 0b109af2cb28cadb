// Looks up in the store what tests cannot see through the service.
import type { Collection, Db, Document } from 'mongodb';

/** The collection of a type's instances. */
export async function instancesIn(db: Db, type: string): Promise<Collection<Document>> {
  const row = await db.collection('resources').findOne({ kind: 'types', name: type }, { projection: { collection: 1 } });
  if (!row) throw new Error(`no type ${type} in ${db.databaseName}`);
  return db.collection(String(row['collection'] ?? `t.${type}`));
}
