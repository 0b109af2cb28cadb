// Unique keys of documents: two units with a common key do not share a batch.

import { BSON, type Db, type Document } from 'mongodb';
import { DuplicateKey, type UnitOfWork } from '../runtime/transactions/index.ts';
import { StoredBytes } from '../model/values/index.ts';
import { mongoIndexes, type TypeDefinition } from '../model/types/index.ts';

const known = new WeakMap<TypeDefinition, { name: string; paths: string[] }[]>();
function uniqueIndexes(type: TypeDefinition): { name: string; paths: string[] }[] {
  let indexes = known.get(type);
  if (!indexes) {
    indexes = mongoIndexes(type)
      .filter((index) => index.unique === true)
      .map((index) => ({ name: index.name, paths: Object.keys(index.key) }));
    known.set(type, indexes);
  }
  return indexes;
}

interface HeldKey {
  readonly index: string;
  readonly paths: readonly string[];
  /**
   * The values of the key; null where elements of arrays or parts of objects have entries of their own: then only the index identifies the
   * key.
   */
  readonly values: readonly unknown[] | null;
}

/** The keys of a document in the unique indexes of its type. */
function keysOf(type: TypeDefinition, document: Document): HeldKey[] {
  const held: HeldKey[] = [];
  for (const { name, paths } of uniqueIndexes(type)) {
    const values = paths.map((path) => document[path.split('.', 1)[0] as string] ?? null);
    if (values.every((value) => value === null)) continue;
    const exact =
      values.every((value) => !Array.isArray(value) && !(value instanceof StoredBytes)) && paths.every((path) => !path.includes('.'));
    held.push({ index: name, paths, values: exact ? values : null });
  }
  return held;
}

const textOfKey = (collection: string, { index, values }: HeldKey): string =>
  `${collection}!${index}!${values ? Buffer.from(BSON.serialize({ values })).toString('latin1') : '*'}`;

type TypeOfCollection = (collection: string) => TypeDefinition | undefined;

/** Texts of keys: equal for two documents that a unique index would not hold together. */
export function uniqueKeysOf(unit: UnitOfWork, typeOfCollection: TypeOfCollection): string[] {
  const texts: string[] = [];
  for (const write of unit.writes) {
    const type = write.op === 'delete' ? undefined : typeOfCollection(write.collection);
    if (type && write.op !== 'delete' && uniqueIndexes(type).length > 0)
      for (const key of keysOf(type, write.document)) texts.push(textOfKey(write.collection, key));
  }
  return texts;
}

/**
 * Finds the units whose keys stored documents hold already: one query for each collection and index, for batches with several such units.
 */
export async function findTaken(
  db: Db,
  units: readonly UnitOfWork[],
  typeOfCollection: TypeOfCollection,
): Promise<Map<UnitOfWork, DuplicateKey>> {
  const wanted = new Map<string, { collection: string; paths: readonly string[]; filters: Document[] }>();
  const askers = new Map<string, { unit: UnitOfWork; id: string; index: string }[]>();
  for (const unit of units)
    for (const write of unit.writes) {
      const type = write.op === 'delete' ? undefined : typeOfCollection(write.collection);
      if (!type || write.op === 'delete') continue;
      for (const key of keysOf(type, write.document)) {
        if (!key.values) continue;
        const text = textOfKey(write.collection, key);
        askers.set(text, [...(askers.get(text) ?? []), { unit, id: String(write.document['_id']), index: key.index }]);
        const query = wanted.get(`${write.collection}!${key.index}`) ?? { collection: write.collection, paths: key.paths, filters: [] };
        query.filters.push(Object.fromEntries(key.paths.map((path, i) => [path, key.values?.[i]])));
        wanted.set(`${write.collection}!${key.index}`, query);
      }
    }
  const taken = new Map<UnitOfWork, DuplicateKey>();
  for (const { collection, paths, filters } of wanted.values()) {
    const type = typeOfCollection(collection);
    const projection = Object.fromEntries(paths.map((path) => [path, 1]));
    const found = db.collection(collection).find({ $or: filters }, { projection, promoteValues: false, promoteLongs: false });
    for await (const document of found)
      for (const key of type ? keysOf(type, document) : [])
        for (const { unit, id, index } of askers.get(textOfKey(collection, key)) ?? [])
          if (id !== String(document['_id'])) taken.set(unit, new DuplicateKey(collection, index));
  }
  return taken;
}
