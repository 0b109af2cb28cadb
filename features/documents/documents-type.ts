// The resource `documents` (resources-and-api.md 4.8): the metadata of a document is an ordinary instance; its bytes are in GridFS, and a
// row with the `_id` of the instance, written in the same transaction, names the file.
import type { InstanceResource } from '../../resources/catalog/index.ts';
import { requireChangeable } from './change.ts';
import { contentRemovals } from './content-store.ts';
import { DOCUMENT_TYPE } from './document-type.ts';
import { insertDocument } from './insert-document.ts';
import { transferDocument } from './transfer.ts';

export const DOCUMENTS: InstanceResource = {
  kind: 'instances',
  name: 'documents',
  type: DOCUMENT_TYPE,
  collection: DOCUMENT_TYPE.collection,
  operations: new Set(['select', 'aggregate', 'insert', 'update', 'upsert', 'patch', 'delete']),
  defaultSort: { _id: 1 },
  isLazy: true,
  answers: 'object',
  guard: { insert: insertDocument, change: (stored, changes) => void requireChangeable(stored, changes), along: contentRemovals },
  transfer: transferDocument,
};
