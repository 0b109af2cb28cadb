// The command `duplicate` of a document (resources-and-api.md 2.13, 4.8).
import { getOwn, isObject, type ObjectValue } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { ApiReply, ApiRequest } from '../../resources/api.ts';
import { apiError } from '../../model/errors/index.ts';
import { instanceToJson } from '../../model/values/index.ts';
import { requireRight } from '../../resources/access/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { textField } from '../../resources/definitions/index.ts';
import { notFound, readAt } from '../../resources/instances/index.ts';
import { copyDocument, isVisible } from './change.ts';
import { DOCUMENT_TYPE } from './document-type.ts';
import { DOCUMENTS } from './documents-type.ts';

/** Copies a document to the name `duplicateName` of the body. */
export async function duplicateDocument(space: Namespace, address: string, { object }: ApiRequest, actor: Actor): Promise<ApiReply> {
  requireRight(space, DOCUMENTS, 'insert', actor.identity);
  const data: ObjectValue = isObject(object) ? object : {};
  const unknown = Object.keys(data).find((key) => key !== 'duplicateName');
  if (unknown !== undefined) throw apiError('cascade.resource.property.unknown', 'documents', unknown);
  const target = { name: textField('documents', data, 'duplicateName'), fileType: null, others: {} };
  const copy = await copyDocument(space, DOCUMENTS, await nameAt(space, address, actor), target, actor);
  return { status: 200, body: instanceToJson(DOCUMENT_TYPE, copy) };
}

/** The name of the document at an address, which is its name or `_id` (1.2). @throws cascade.resource.not.found */
async function nameAt(space: Namespace, address: string, actor: Actor): Promise<string> {
  const stored = await readAt(space, DOCUMENTS, address, actor);
  if (!isVisible(stored, actor)) throw notFound(DOCUMENTS, address);
  return String(getOwn(stored, 'name'));
}
