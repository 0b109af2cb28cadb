// Reads and stores the documents that requests to outside systems name (integrations.md 2.2, 5), with the rights of the caller.
import { getOwn, isObject, isReference, type ObjectValue, setOwn, text, type Value, XmlElement } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { finishInSlices, resultsOf } from '../../platform/structures/index.ts';
import { requireRight } from '../../resources/access/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { DOCUMENTS, readDocument, requireSavable, saveDocument } from '../documents/index.ts';
import type { Caller } from './protocols/index.ts';

/** Total size of the documents that one request may read. */
const MOST_BYTES = 64 * 1024 * 1024;

export interface DocumentCaller extends Caller {
  /** The query stored its answer as a document, so that its rows hold references. */
  readonly hasSaved: boolean;
}

export function callerOf(space: Namespace, actor: Actor): DocumentCaller {
  let left = MOST_BYTES;
  let hasSaved = false;
  return {
    get hasSaved() {
      return hasSaved;
    },
    async readDocument(name) {
      requireRight(space, DOCUMENTS, 'select', actor.identity);
      const { bytes, fileType } = await readDocument(space, name, actor, left);
      left -= bytes.length;
      return { bytes, fileType };
    },
    requireSavable: (name) => requireSavable(space, name, actor),
    async saveDocument(document, result) {
      await saveDocument(space, document, actor, result);
      hasSaved = true;
    },
  };
}

/** The answer of a query as clients see it: its XML as data. */
export async function shownRow(space: Namespace, row: Value): Promise<Value> {
  if (row instanceof XmlElement) return finishInSlices(resultsOf(space.name), row.dataInPieces());
  if (!isObject(row)) return row;
  // A full response has the body as a member, an exchange has the response as one.
  const shown: ObjectValue = {};
  for (const name of Object.keys(row)) {
    const member = getOwn(row, name);
    setOwn(shown, name, name === 'body' || name === 'response' ? await shownRow(space, member) : member);
  }
  return shown;
}

/** The answer of a query that stored a document, as clients see it: references are text (resources-and-api.md 5.8). */
export function withReferences(row: Value): Value {
  if (isReference(row)) return text(row);
  if (!isObject(row)) return row;
  return Object.fromEntries(
    Object.entries(row).map(([key, value]) => [key, key === 'body' || key === 'response' ? withReferences(value) : value]),
  );
}
