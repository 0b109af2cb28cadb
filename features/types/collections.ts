// Collections of instances that no type has (any more): made for a definition that was then not stored, or left by one that was deleted. And what
// an earlier version had begun, which moved the collection of a type that was renamed.

import { type Db, ObjectId } from 'mongodb';
import { DEFINITIONS, RESTORED_DEFINITIONS } from '../../resources/catalog/index.ts';

/**
 * A collection is made before its definition is stored: one that is as old as this waits for none. A process that stands still for so long is
 * fenced, and its definition is refused.
 */
const YOUNG_MS = 3_600_000;
const OF_A_TYPE = /^t\.(?!Ars)/;
const BY_ID = /^t\.([0-9a-f]{24})$/;

/**
 * Removes the instances of types that are gone, where a crash has kept that from being done at once.
 * @param isAlone no process of an earlier version may be making a type, whose collections have the type's name
 */
export async function dropOrphans(db: Db, now: number, isAlone: boolean): Promise<string[]> {
  const present = await db.listCollections({ name: OF_A_TYPE }, { nameOnly: true }).toArray();
  // Read afterwards: what was stored before is known then.
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

/** Takes collections back that an earlier version has moved for a new name which was then not stored. Before anything else is done with a namespace. */
export async function undoHalfRenames(db: Db, isType: (name: string) => boolean): Promise<void> {
  const renames = db.collection<Rename>('renames');
  for (const { _id: from, to } of await renames.find().toArray()) {
    const moved = (await db.listCollections({ name: `t.${to}` }, { nameOnly: true }).toArray()).length > 0;
    // A deleted type of the old name may have left its collection.
    if (isType(from) && !isType(to) && moved) await db.collection(`t.${to}`).rename(`t.${from}`, { dropTarget: true });
    await renames.deleteOne({ _id: from });
  }
}
