// Documents as templates and as values put into templates (builtins.md 28.1).
import { encodeInner } from '../../stdlib/values/index.ts';
import { requireRight } from '../../resources/access/index.ts';
import type { HostBuiltins } from '../../resources/catalog/index.ts';
import { DOCUMENTS, readDocument } from '../documents/index.ts';

/** What a message with values put in may well have; larger documents are no templates. */
const MOST_BYTES = 1024 * 1024;

export const documentTexts: HostBuiltins = {
  // The reference holds the text, so that filling in templates needs nobody who reads documents.
  'io.service.text.Template.documentReference': async (space, [docName = null], actor) => {
    requireRight(space, DOCUMENTS, 'select', actor.identity);
    const { bytes } = await readDocument(space, String(docName), actor, MOST_BYTES);
    return { ok: encodeInner({ ars_documentReference: `/documents/${String(docName)}`, text: bytes.toString('utf8') }) };
  },
};
