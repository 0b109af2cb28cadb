// Stores bytes of a program or a source as a document.
import { encodeInner, type Value } from '../../stdlib/values/index.ts';
import { type Actor, committing } from '../../runtime/context/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { requireRight } from '../../resources/access/index.ts';
import { documentNamed, ensureCollections, putDocuments, requireReplaceable } from './change.ts';
import { oneOf, storeContent } from './content-store.ts';
import { DOCUMENTS } from './documents-type.ts';
import { checkDocumentName, fileTypeOf } from './names.ts';

/**
 * Creates the document, or replaces one that the caller may replace.
 * @param declaredType the media type that accompanied the bytes; it counts where the name's extension has none
 * @param result the result of the statement, recorded with the document
 * @throws authorization.denied; document.name.invalid, .name.reserved; resource.duplicate.key for a document that the caller may not see
 */
export async function saveDocument(
  space: Namespace,
  { name, declaredType, bytes }: { readonly name: string; readonly declaredType: string | null; readonly bytes: Uint8Array },
  actor: Actor,
  result: Value,
): Promise<void> {
  requireSavable(space, name, actor);
  await ensureCollections(space, DOCUMENTS);
  requireReplaceable(await documentNamed(space, DOCUMENTS, name), name, actor);
  const content = await storeContent(space, name, oneOf(bytes), bytes.byteLength);
  const saving = committing(actor, (unit) => actor.commit(unit, { ok: encodeInner(result) }));
  await putDocuments(space, DOCUMENTS, [{ name, fileType: fileTypeOf(name, declaredType), content }], saving);
}

/** Checks what does not depend on the bytes. @throws authorization.denied; document.name.invalid, .name.reserved */
export function requireSavable(space: Namespace, name: string, { identity }: Pick<Actor, 'identity'>): void {
  requireRight(space, DOCUMENTS, 'insert', identity);
  checkDocumentName(name);
}
