// INSERT and UPSERT of documents without an upload: a copy of another one, or, in a program, a text (language.md I7).
import { Buffer } from 'node:buffer';
import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { checkFields, textField } from '../../resources/definitions/index.ts';
import type { InstanceResource, Namespace } from '../../resources/catalog/index.ts';
import { CHANGED, documentNamed, ensureCollections, insertCopy, putDocuments, requireFileType, requireReplaceable } from './change.ts';
import { oneOf, storeContent } from './content-store.ts';
import { checkDocumentName } from './names.ts';

const GIVEN = ['name', 'content', 'fileType'];

export function insertDocument(
  space: Namespace,
  resource: InstanceResource,
  body: Value,
  actor: Actor,
  upsert: boolean,
): Promise<ObjectValue | null> {
  const isText = actor.state !== undefined && !upsert && isObject(body) && has(body, 'content') && !has(body, 'fromName');
  return isText ? insertText(space, resource, body, actor) : insertCopy(space, resource, body, actor, upsert);
}

const has = (body: ObjectValue, name: string): boolean => Object.hasOwn(body, name) && getOwn(body, name) !== null;

/** Stores a text, also in place of what a document of the name held. */
async function insertText(space: Namespace, resource: InstanceResource, body: ObjectValue, actor: Actor): Promise<ObjectValue> {
  const fields = checkFields({ name: 'documents', type: CHANGED }, body, 'refused');
  const name = textField('documents', fields, 'name');
  checkDocumentName(name);
  if (has(fields, 'contentSize')) throw apiError('cascade.resource.property.invalid', 'documents', 'contentSize', 'it is read-only');
  const fileType = has(fields, 'fileType') ? getOwn(fields, 'fileType') : null;
  if (fileType !== null) requireFileType(fileType);
  await ensureCollections(space, resource);
  requireReplaceable(await documentNamed(space, resource, name), name, actor);
  const bytes = Buffer.from(textField('documents', fields, 'content'), 'utf8');
  const content = await storeContent(space, name, oneOf(bytes), bytes.byteLength);
  const others = Object.fromEntries(Object.entries(fields).filter(([key]) => !GIVEN.includes(key)));
  const [stored] = await putDocuments(space, resource, [{ name, fileType: fileType as string | null, others, content }], actor);
  return stored as ObjectValue;
}
