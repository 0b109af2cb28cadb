// Many writes to one collection at once, as mongod's own commands with the documents as a sequence of bytes. The driver's insertMany and
// bulkWrite measure and copy each document before it is written.

import { DocumentSequence } from 'mongodb/lib/cmap/commands.js';
import { BsonWriter } from './bson-writer.ts';
import { BSON, type ClientSession, type Db, type Document, MongoServerError } from 'mongodb';

/** Of one command: a message holds 48 MB and 100,000 documents. */
const BYTES = 40_000_000;
const DOCUMENTS = 50_000;

const DURABLE = { w: 'majority', j: true } as const;

/** A document that the store did not take. */
export interface WriteError {
  /** Its place. */
  readonly index: number;
  readonly code: number;
  readonly errmsg?: string;
}

export interface Inserted {
  readonly document: Document;
  /** It is no larger in BSON; absent where nobody knows. */
  readonly mostBytes?: number;
}

/**
 * Stores them in any order, by majority and journal, or within the session's transaction (which has its own concern).
 * @returns those that were refused; inside a transaction the first of them only
 * @throws the driver's error when nothing of that kind is all there is to say: what is stored is then unknown
 */
export async function insertAll(
  db: Db,
  collection: string,
  given: readonly Inserted[],
  session: ClientSession | undefined,
): Promise<WriteError[]> {
  const refused: WriteError[] = [];
  for (let from = 0; from < given.length; ) {
    const documents: Document[] = [];
    for (let bytes = 0; from + documents.length < given.length && documents.length < DOCUMENTS; ) {
      const { document, mostBytes = BSON.calculateObjectSize(document) } = given[from + documents.length] as Inserted;
      bytes += mostBytes;
      if (bytes > BYTES && documents.length > 0) break;
      documents.push(document);
    }
    for (const error of await insertSome(db, collection, documents, session)) refused.push({ ...error, index: from + error.index });
    if (session && refused.length > 0) break;
    from += documents.length;
  }
  return refused;
}

const writer = new BsonWriter();

/** The command for them. */
export const insertCommand = (collection: string, given: readonly Document[]): Document => ({
  insert: collection,
  documents: sequence('documents', given),
  ordered: false,
});

/** Documents as a sequence of the message, behind the command. */
function sequence(field: string, given: readonly Document[]): DocumentSequence {
  const documents = new DocumentSequence(field);
  documents.push({}, writer.write(given));
  documents.documents = given;
  return documents;
}

/** Replaces documents, each where the condition holds. As many as one message holds. */
export const replaceAll = (
  db: Db,
  collection: string,
  given: readonly { readonly filter: Document; readonly replacement: Document }[],
  session: ClientSession,
): Promise<Changed> => {
  const updates = sequence(
    'updates',
    given.map(({ filter, replacement }) => ({ q: filter, u: replacement })),
  );
  return change(db, { update: collection, updates }, session);
};

/** Deletes one document for each condition. As many as one message holds. */
export const deleteAll = (db: Db, collection: string, filters: readonly Document[], session: ClientSession): Promise<Changed> => {
  const deletes = sequence(
    'deletes',
    filters.map((filter) => ({ q: filter, limit: 1 })),
  );
  return change(db, { delete: collection, deletes }, session);
};

export interface Changed {
  /** Documents for which a condition held. */
  readonly count: number;
  /** The first that was refused, if any. */
  readonly errors: readonly WriteError[];
}

async function change(db: Db, command: Document, session: ClientSession): Promise<Changed> {
  const { n, writeErrors } = await db.command({ ...command, ordered: false }, { session });
  return { count: n as number, errors: (writeErrors ?? []) as WriteError[] };
}

async function insertSome(db: Db, insert: string, given: Document[], session: ClientSession | undefined): Promise<WriteError[]> {
  const command = insertCommand(insert, given);
  const reply = session ? await db.command(command, { session }) : await db.command({ ...command, writeConcern: DURABLE });
  if (reply['writeConcernError']) throw new MongoServerError(reply['writeConcernError'] as Document);
  return (reply['writeErrors'] ?? []) as WriteError[];
}
