// Creates a backup: reads a snapshot of the database row by row, no faster than the client takes it.
import { BSON, type ClientSession, type Db, type Document, MongoServerError } from 'mongodb';
import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { fromBson, toBson } from '../../model/values/index.ts';
import type { Pieces } from '../../resources/api.ts';
import { DEFINITIONS, type Namespace } from '../../resources/catalog/index.ts';
import { contentFilter } from '../documents/index.ts';
import { collectionsOf, type TypeCollection, typeCollections } from './collections.ts';
import { type BackupRecord, FORMAT, type Head } from './format.ts';
import { backupCipher, checkOf, isSealed, resealedDefinition, resealedRow, type Resealing } from './sealing.ts';

/** The approximate length of a piece. */
const PIECE_LENGTH = 65_536;
const ROWS_AT_A_TIME = 200;
/** Error code for an expired snapshot: the store keeps the history of five minutes, by default. */
const SNAPSHOT_TOO_OLD = 239;

/** @throws resource.not.found, backup.key.required */
export async function openBackup(space: Namespace, namespace: string, key: Uint8Array | null): Promise<Pieces> {
  const { directory, keys, about } = space.installation;
  const [record] = (await directory.namespaces('', true)).filter((one) => one.namespace === namespace);
  if (!record) throw apiError('cascade.resource.not.found', `/namespaces/${namespace}`);
  const db = space.installation.databaseOf(namespace);
  const session = db.client.startSession({ snapshot: true });
  try {
    const at = new Date(space.clock.now()).toISOString();
    const definitions = await readDefinitions(db, session);
    const types = typeCollections(definitions.map(({ row }) => row));
    const { features } = space.catalog;
    const hasSecrets = definitions.some(({ row }) => isSealed(features.kind(kindOf(row)), objectOf(row)));
    if ((hasSecrets || (await hasEncrypted(db, session, types))) && !key) throw apiError('cascade.backup.key.required', namespace);
    const cipher = key && (await keys.cipherOf(namespace));
    const resealing = key && cipher ? { from: cipher, to: backupCipher(key) } : null;
    const head: Head = {
      cascade: 'backup',
      format: FORMAT,
      service: about.build.version,
      namespace,
      at,
      properties: record.properties,
      check: resealing && key ? checkOf(key) : null,
    };
    async function* records(): AsyncGenerator<BackupRecord> {
      let rows = 0;
      yield head;
      for (const { raw, row } of definitions) {
        yield rowOf(DEFINITIONS, resealing ? withSecrets(features.kind(kindOf(row)), raw, row, resealing) : documentOf(raw));
        rows++;
      }
      for (const name of collectionsOf(features, types)) {
        const encrypted = types.get(name)?.encrypted ?? NONE;
        const filter = await contentFilter(db, name, session);
        const found = db.collection(name).find(filter, { session, sort: { _id: 1 }, batchSize: ROWS_AT_A_TIME, raw: true });
        for await (const raw of found as unknown as AsyncIterable<Uint8Array>) {
          const document = documentOf(raw);
          if (resealing && encrypted.size > 0) resealedRow(document, encrypted, resealing);
          yield rowOf(name, document);
          rows++;
        }
      }
      yield { end: { rows } };
    }
    return piecesOf(records(), session);
  } catch (error) {
    await session.endSession();
    throw error;
  }
}

const NONE: ReadonlySet<string> = new Set();
const kindOf = (row: ObjectValue): string => String(getOwn(row, 'kind'));
const objectOf = (row: ObjectValue): ObjectValue => getOwn(row, 'object') as ObjectValue;

/** The document with the stored types of its values: a Long of 5 differs from a Double. */
const documentOf = (raw: Uint8Array): Document => BSON.deserialize(raw, { promoteValues: false });

const rowOf = (collection: string, document: Document): BackupRecord => ({
  in: collection,
  row: BSON.EJSON.serialize(document, { relaxed: false }),
});

interface Definition {
  readonly raw: Uint8Array;
  readonly row: ObjectValue;
}

/** Reads all definitions; the process that owns the namespace has them in memory, too. */
async function readDefinitions(db: Db, session: ClientSession): Promise<Definition[]> {
  const found: Definition[] = [];
  const rows = db.collection(DEFINITIONS).find({}, { session, sort: { _id: 1 }, raw: true }) as unknown as AsyncIterable<Uint8Array>;
  for await (const raw of rows) found.push({ raw, row: fromBson(raw) });
  return found;
}

async function hasEncrypted(db: Db, session: ClientSession, types: ReadonlyMap<string, TypeCollection>): Promise<boolean> {
  for (const [collection, { encrypted }] of types)
    if (encrypted.size > 0 && (await db.collection(collection).findOne({}, { session, projection: { _id: 1 } }))) return true;
  return false;
}

function withSecrets(kind: Parameters<typeof resealedDefinition>[0], raw: Uint8Array, row: ObjectValue, resealing: Resealing): Document {
  const document = documentOf(raw);
  const object = objectOf(row);
  const again = resealedDefinition(kind, object, resealing);
  if (again !== object) document['object'] = toBson(again);
  return document;
}

/** The records as the text of an array, one per line. */
function piecesOf(records: AsyncGenerator<BackupRecord>, session: ClientSession): Pieces {
  let isBegun = false;
  let isOver = false;
  const next = async (): Promise<string | null> => {
    if (isOver) return null;
    let text = '';
    while (text.length < PIECE_LENGTH) {
      const { done, value } = await records.next().catch(expired);
      if (done === true) {
        isOver = true;
        return `${text}\n]`;
      }
      text += `${isBegun ? ',\n' : '[\n'}${JSON.stringify(value)}`;
      isBegun = true;
      if ('error' in value) isOver = true;
      if (isOver) return `${text}\n]`;
    }
    return text;
  };
  return {
    next,
    async close() {
      isOver = true;
      await records.return(undefined);
      await session.endSession();
    },
  };
}

/** The error as a record: the client has got the beginning of the array already. */
function expired(error: unknown): IteratorResult<BackupRecord, undefined> {
  if (!(error instanceof MongoServerError) || error.code !== SNAPSHOT_TOO_OLD) throw error;
  const { code, message } = apiError('cascade.backup.expired');
  return { done: false, value: { error: { code, message } } };
}
