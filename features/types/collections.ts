// Maintains collections of instances without a type: those created for a definition that was then not stored, and those left by a deleted
// type. Undoes unfinished renames of an earlier version, which moved the collection of a renamed type.

import { type Db, ObjectId } from 'mongodb';
import { DEFINITIONS, RESTORED_DEFINITIONS } from '../../resources/catalog/index.ts';

/**
 * A collection is created before its definition is stored: an older one without a definition is an orphan. A process that stands still for
 * so long is fenced, and its definition refused.
 */
const YOUNG_MS = 3_600_000;
const OF_A_TYPE = /^t\.(?!Ars)/;
const BY_ID = /^t\.([0-9a-f]{24})$/;

/**
 * Drops the collections of deleted types that a crash has left.
 * @param isAlone no process of an earlier version may be creating a type, whose collection has the type's name
 */
export async function dropOrphans(db: Db, now: number, isAlone: boolean): Promise<string[]> {
  const present = await db.listCollections({ name: OF_A_TYPE }, { nameOnly: true }).toArray();
  // Read after the list of collections, so that it includes each definition whose collection is listed.
  const used = new Set<string>();
  for (const definitions of [RESTORED_DEFINITIONS, DEFINITIONS]) {
    const types = db
      .collection(definitions)
      .find({ kind: 'types' }, { projection: { name: 1, collection: 1 }, readConcern: { level: 'majority' } });
    for await (const { name, collection } of types) used.add(String(collection ?? `t.${String(name)}`));
  }
  const dropped: string[] = [];
  for (const { name } of present) {
    if (used.has(name)) continue;
    const id = BY_ID.exec(name)?.[1];
    const isOld = id === undefined ? isAlone : ObjectId.createFromHexString(id).getTimestamp().getTime() < now - YOUNG_MS;
    if (!isOld) continue;
    await db.collection(name).drop();
    dropped.push(name);
  }
  return dropped;
}

interface Rename {
  readonly _id: string;
  readonly to: string;
}

/**
 * Undoes the move of a collection for a new name that an earlier version then did not store. Called before anything else in a namespace.
 */
export async function undoHalfRenames(db: Db, isType: (name: string) => boolean): Promise<void> {
  const renames = db.collection<Rename>('renames');
  for (const { _id: from, to } of await renames.find().toArray()) {
    const moved = (await db.listCollections({ name: `t.${to}` }, { nameOnly: true }).toArray()).length > 0;
    // A deleted type of the old name may have left its collection.
    if (isType(from) && !isType(to) && moved) await db.collection(`t.${to}`).rename(`t.${from}`, { dropTarget: true });
    await renames.deleteOne({ _id: from });
  }
}
