// Restores a backup into an empty namespace. Rows are written to their collections, which nothing refers to while the definitions are kept
// aside; the end of the restore puts these in force in one transaction. An interrupted restore has no effect: the next one starts over.
import { randomUUID } from 'node:crypto';
import { Binary, BSON, type ClientSession, type Db, type Document, Long, MongoServerError, ObjectId } from 'mongodb';
import { cutText, getOwn, isObject, type ObjectValue } from '../../stdlib/values/index.ts';
import { apiError, type CascadeError } from '../../model/errors/index.ts';
import { mongoIndexes, type TypeDefinition } from '../../model/types/index.ts';
import { fromBson, parseJson, toBson } from '../../model/values/index.ts';
import { isRetryable, retryUntilAvailable } from '../../platform/mongo/index.ts';
import { DEFINITIONS, DefinitionStore, type Namespace, RESTORED_DEFINITIONS } from '../../resources/catalog/index.ts';
import { propertiesIn } from '../accounts/index.ts';
import { DEPENDENTS, entriesOfDependent } from '../../resources/instances/index.ts';
import { CONTENT_COLLECTIONS, dropContents, ensureContentCollections } from '../documents/index.ts';
import { loadScalars } from '../scalars/index.ts';
import { loadTypes } from '../types/index.ts';
import { systemResources, type TypeCollection, typeCollections } from './collections.ts';
import { FORMAT, type Head } from './format.ts';
import { backupCipher, isSealed, requireKey, resealedDefinition, resealedRow, type Resealing } from './sealing.ts';

/** Id of the document with the state of a restore, in the namespace's database. */
const RESTORE = 'restore';
/**
 * Records the rows that an attempt has inserted into the service's own collections: these are visible at once, and the next attempt removes
 * them.
 */
const INSERTED = 'restore.inserted';
const OF_A_TYPE = /^t\.(?!Ars)/;
const DUPLICATE = 11000;
const EXISTS = 48;
/** Of what the database says: it may repeat the row. */
const LONGEST_REASON = 200;

interface Restore {
  readonly _id: 'restore';
  /** Id of this attempt. */
  readonly id: string;
  readonly head: Head;
  readonly rows: number;
  /** All definitions have arrived, and the collections of their types exist. */
  readonly hasTypes?: true;
}

const restores = (db: Db) => db.collection<Restore>(RESTORE);
const invalid = (reason: string): CascadeError => apiError('cascade.backup.invalid', reason);

/**
 * @returns the id of the attempt
 * @throws resource.not.found; backup.invalid, .namespace.used, .key.required, .key.invalid
 */
export async function beginRestore(space: Namespace, namespace: string, head: Head, key: Uint8Array | null): Promise<string> {
  if (head.format !== FORMAT) throw invalid(`it is of format ${head.format}, and this service reads ${FORMAT}`);
  if (!(await space.installation.directory.hasNamespace(namespace)))
    throw apiError('cascade.resource.not.found', `/namespaces/${namespace}`);
  if (namespace === space.name) throw apiError('cascade.backup.namespace.used', namespace, 'the accounts of the installation');
  requireProperties(head);
  requireKey(head.check, key, head.namespace);
  if (head.check !== null && !space.installation.keys.areAvailable)
    throw invalid('it has encrypted values, and the service was started without a master key');
  const db = space.installation.databaseOf(namespace);
  const resources = systemResources(space.catalog.features);
  if (await restores(db).findOne({ _id: RESTORE })) await removeInserted(db);
  // The end of a restore removes its state with the commit that puts it in force: without one these rows are the namespace's own.
  else await db.collection(INSERTED).drop();
  await requireEmpty(db, namespace, [DEFINITIONS, ...resources.map(({ collection }) => collection)]);
  // Collections that an earlier attempt has left: no type refers to them.
  for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray())
    if (OF_A_TYPE.test(name) || name === RESTORED_DEFINITIONS) await db.collection(name).drop();
  await db.collection(DEPENDENTS).deleteMany({}, { writeConcern: { w: 'majority' } });
  await dropContents(db);
  const id = randomUUID();
  await restores(db).replaceOne({ _id: RESTORE }, { id, head, rows: 0 }, { upsert: true });
  return id;
}

/** @throws backup.invalid: every look-up of an account would fail by them */
function requireProperties({ properties }: Head): void {
  if (properties === null) return;
  try {
    propertiesIn('namespaces', { ars_properties: parseJson(properties) });
  } catch {
    throw invalid('its ars_properties are none that a namespace can have');
  }
}

interface Inserted {
  readonly in: string;
  readonly ids: readonly unknown[];
}

/** Removes the rows that an earlier attempt has inserted into the service's own collections, and no others. */
async function removeInserted(db: Db): Promise<void> {
  for await (const { in: name, ids } of db.collection<Inserted>(INSERTED).find({}, { promoteValues: false }))
    await db.collection(String(name)).deleteMany({ _id: { $in: ids as never[] } }, { writeConcern: { w: 'majority' } });
  await db.collection(INSERTED).drop();
}

async function requireEmpty(db: Db, namespace: string, collections: readonly string[]): Promise<void> {
  for (const name of collections)
    if (await db.collection(name).findOne({}, { projection: { _id: 1 } }))
      throw apiError('cascade.backup.namespace.used', namespace, name === DEFINITIONS ? 'definitions' : `instances of ${name.slice(2)}`);
}

/** The state of the attempt with that id. @throws backup.invalid */
async function restoreOf(db: Db, id: string): Promise<Restore> {
  const found = await restores(db).findOne({ _id: RESTORE });
  if (found?.id !== id) throw invalid('another restore of the namespace has begun since, or this one has ended');
  return found;
}

/**
 * Writes rows: definitions come first, then all others.
 * @param rows texts of records
 * @throws backup.invalid, .key.required, .key.invalid
 */
export async function takeRows(
  space: Namespace,
  namespace: string,
  id: string,
  rows: readonly string[],
  key: Uint8Array | null,
): Promise<void> {
  const db = space.installation.databaseOf(namespace);
  const restore = await restoreOf(db, id);
  requireKey(restore.head.check, key, restore.head.namespace);
  const resealing: Resealing | null = key && restore.head.check !== null ? await resealingFor(space, namespace, key) : null;
  const from = restore.head.namespace;
  const batches = new Map<string, Document[]>();
  for (const text of rows) {
    const [collection, document] = parsed(text);
    const batch = batches.get(collection) ?? [];
    batches.set(collection, batch);
    batch.push(document);
  }
  const definitions = batches.get(DEFINITIONS) ?? [];
  batches.delete(DEFINITIONS);
  if (definitions.length > 0) {
    if (restore.hasTypes) throw invalid('a definition stands behind instances');
    const stored = definitions.map((document) => definitionFor(space, namespace, from, document, resealing));
    await insert(db, RESTORED_DEFINITIONS, stored);
  }
  if (batches.size > 0) {
    const known = await knownCollections(db);
    if (!restore.hasTypes) await makeCollections(space, db);
    for (const [collection, documents] of batches) {
      const type = known.get(collection);
      if (!type && !isOfService(space, collection)) throw invalid(`no type of it has the collection ${collection}`);
      const entries: Document[] = [];
      for (const document of documents) {
        const row = CONTENT_COLLECTIONS.includes(collection) ? null : requireReadable(collection, document);
        if (type && row) entries.push(...entriesOfDependent({ name: type.name, collection }, row));
        if (type) requireSealed(document, type.encrypted, resealing !== null);
        if (type && resealing) opened(() => resealedRow(document, type.encrypted, resealing));
        if (document['ars_namespace'] === from) document['ars_namespace'] = namespace;
      }
      // A backup has no entries of dependents: they follow from its rows.
      if (entries.length > 0) await insert(db, DEPENDENTS, entries);
      if (!type && !CONTENT_COLLECTIONS.includes(collection))
        await insert(db, INSERTED, [{ in: collection, ids: documents.map(({ _id }) => _id as unknown) } satisfies Inserted]);
      await insert(db, collection, documents);
    }
  }
  await restores(db).updateOne({ _id: RESTORE, id }, { $inc: { rows: rows.length }, $set: batches.size > 0 ? { hasTypes: true } : {} });
}

const resealingFor = async (space: Namespace, namespace: string, key: Uint8Array): Promise<Resealing> => ({
  from: backupCipher(key),
  to: await space.installation.keys.ensureCipher(namespace),
});

const isOfService = (space: Namespace, collection: string): boolean =>
  CONTENT_COLLECTIONS.includes(collection) || systemResources(space.catalog.features).some((one) => one.collection === collection);

/** Checks the kinds of a row's values: one of another kind would keep all rows beside it from being read. @throws backup.invalid */
function requireReadable(collection: string, document: Document): ObjectValue {
  try {
    return fromBson(document);
  } catch {
    throw invalid(`a row of ${collection} has a value of a kind that the service does not keep`);
  }
}

/** Checks that encrypted properties have sealed values, which this backup has a key for. @throws backup.invalid */
function requireSealed(document: Document, encrypted: ReadonlySet<string>, hasKey: boolean): void {
  for (const property of encrypted) {
    const value: unknown = document[property];
    if (value === undefined || value === null) continue;
    if (!(value instanceof Binary)) throw invalid('an encrypted property in it has a value in the clear');
    if (!hasKey) throw invalid('it has encrypted values, and names no key');
  }
}

/** Opens a sealed value; one that does not open was changed. @throws backup.invalid */
function opened<T>(work: () => T): T {
  try {
    return work();
  } catch {
    throw invalid('an encrypted value in it does not open');
  }
}

function parsed(text: string): [collection: string, document: Document] {
  try {
    const record = BSON.EJSON.parse(text, { relaxed: false }) as { in?: unknown; row?: Document };
    if (typeof record.in === 'string' && typeof record.row === 'object' && record.row !== null && record.row['_id'] !== undefined)
      return [record.in, record.row];
  } catch {
    // reported below
  }
  throw invalid('a record of it is no row');
}

/** The definition as it is stored: for this namespace, with its secrets sealed by the namespace's key. */
function definitionFor(space: Namespace, namespace: string, from: string, document: Document, resealing: Resealing | null): Document {
  const row = requireReadable(DEFINITIONS, document);
  const [kind, object] = [
    space.catalog.features.kind(String(getOwn(row, 'kind'))),
    Object.hasOwn(row, 'object') ? getOwn(row, 'object') : null,
  ];
  const isWhole = document['_id'] instanceof ObjectId && document['ars_version'] instanceof Long && typeof document['name'] === 'string';
  if (!isWhole || !isObject(object) || idIn(object) !== String(document['_id'])) throw invalid('a definition of it is not whole');
  for (const collection of typeCollections([row]).keys())
    if (!OF_A_TYPE.test(collection)) throw invalid(`a type of it has the collection ${collection}, which is the service's own`);
  if (!kind) throw invalid(`this service knows no ${String(getOwn(row, 'kind'))}`);
  const moved: ObjectValue =
    Object.hasOwn(object, 'ars_namespace') && getOwn(object, 'ars_namespace') === from ? { ...object, ars_namespace: namespace } : object;
  if (!resealing && isSealed(kind, object)) throw invalid('it has encrypted values, and names no key');
  const after = resealing ? opened(() => resealedDefinition(kind, moved, resealing)) : moved;
  return after === object ? document : { ...document, object: toBson(after) };
}

const idIn = (object: ObjectValue): unknown => (Object.hasOwn(object, '_id') ? getOwn(object, '_id') : undefined);

const stagedRows = async (db: Db): Promise<ObjectValue[]> => {
  const rows: ObjectValue[] = [];
  const found = db.collection(RESTORED_DEFINITIONS).find({}, { sort: { _id: 1 }, raw: true }) as unknown as AsyncIterable<Uint8Array>;
  for await (const raw of found) rows.push(fromBson(raw));
  return rows;
};

const knownCollections = async (db: Db): Promise<Map<string, TypeCollection>> => typeCollections(await stagedRows(db));

/** Creates the collections of types with their indexes, while they are empty. @throws backup.invalid */
async function makeCollections(space: Namespace, db: Db): Promise<void> {
  const { features } = space.catalog;
  const definitions = new DefinitionStore();
  for (const row of await stagedRows(db)) definitions.putRow(row);
  const unread: string[] = [];
  const types = loadTypes({ features, scalars: loadScalars(definitions), definitions }, null, (name) => unread.push(name));
  if (unread.length > 0) throw invalid(`the type ${unread[0]} cannot be read`);
  if (new Set([...types.values()].map(({ collection }) => collection)).size < types.size)
    throw invalid('two types of it have one collection');
  for (const type of types.values()) await makeCollection(db, type);
  await ensureContentCollections(db);
}

async function makeCollection(db: Db, type: TypeDefinition): Promise<void> {
  await db.createCollection(type.collection).catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== EXISTS) throw error; // made by a request before this one, which failed behind it
  });
  const collection = db.collection(type.collection);
  for (const { key, ...options } of mongoIndexes(type)) await collection.createIndex(key, options);
}

async function insert(db: Db, collection: string, documents: readonly Document[]): Promise<void> {
  try {
    await db.collection(collection).insertMany([...documents], { ordered: false, writeConcern: { w: 'majority' } });
  } catch (error) {
    if ((error as { code?: unknown }).code === DUPLICATE) throw invalid(`it has a row of ${collection} twice`);
    if (!(error instanceof MongoServerError) || isRetryable(error)) throw error;
    throw invalid(`a row of ${collection} cannot be stored: ${cutText(error.message, LONGEST_REASON)}`);
  }
}

/**
 * Ends the restore after all rows have arrived: its definitions come into force.
 * @param rows the number of rows that the end of the backup states
 * @throws backup.invalid, .namespace.used
 */
export async function endRestore(space: Namespace, namespace: string, id: string, rows: number, by: string): Promise<void> {
  const { installation } = space;
  const db = installation.databaseOf(namespace);
  const restore = await restoreOf(db, id);
  if (restore.rows !== rows) throw invalid(`${restore.rows} rows have come, and its end tells of ${rows}`);
  if (!restore.hasTypes) await makeCollections(space, db);
  const enforce = async (session: ClientSession): Promise<void> => {
    if (await db.collection(DEFINITIONS).findOne({}, { session, projection: { _id: 1 } }))
      throw apiError('cascade.backup.namespace.used', namespace, 'definitions');
    const staged = db.collection(RESTORED_DEFINITIONS).find({}, { session, sort: { _id: 1 }, promoteValues: false, promoteLongs: false });
    const documents = await staged.toArray();
    if (documents.length > 0) await db.collection(DEFINITIONS).insertMany(documents, { session });
    await restores(db).deleteOne({ _id: RESTORE, id }, { session });
  };
  const { properties } = restore.head;
  if (properties === null)
    await db.client.withSession((session) => session.withTransaction(() => enforce(session), { writeConcern: { w: 'majority' } }));
  else await installation.directory.setNamespaceProperties(namespace, properties, { by, along: enforce });
  // It is in force: what fails from here on must not deny that. What stays is removed by the next restore.
  for (const staged of [RESTORED_DEFINITIONS, INSERTED])
    await db
      .collection(staged)
      .drop()
      .catch((err: unknown) => space.log.warn({ err, namespace }, 'what a restore has staged could not be removed'));
  await retryUntilAvailable(() => installation.reopen(namespace));
}
