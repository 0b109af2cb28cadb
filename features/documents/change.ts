// Creates, replaces and copies documents; other changes (fileType, deletion) are those of any instance.
import { encodeInner, getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { UnitOfWork } from '../../runtime/transactions/index.ts';
import { raise, instanceEvent } from '../../runtime/events/index.ts';
import { parseWhere, toFilter } from '../../model/query/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { isServiceSet } from '../../model/types/index.ts';
import { idToBson, instanceToBson } from '../../model/values/index.ts';
import { isAdmin } from '../../resources/access/index.ts';
import { type InstanceResource, type Namespace, omit } from '../../resources/catalog/index.ts';
import { checkFields, textField } from '../../resources/definitions/index.ts';
import { changedInTurn, read, updateOne } from '../../resources/instances/index.ts';
import { ensureCollection } from '../../resources/collections/index.ts';
import { stampChanged, stampNew, idOf, versionOf } from '../../resources/representation/index.ts';
import {
  abandon,
  type Content,
  contentOf,
  contentWrites,
  ensureContentCollections,
  readContent,
  storeContent,
  sweepSoon,
} from './content-store.ts';
import { requireDocumentBytes } from './quota.ts';
import { checkDocumentName, contentPath, fileTypeOf, isMediaType, PUBLIC } from './names.ts';

/** The queue of those who store documents that others store at the same time. */
const LINE = 'documents';
const COPIED = ['name', 'fromName', 'fileType'];

/** A document to be stored. */
export interface NewDocument {
  readonly name: string;
  /** Null: an existing document keeps its type. */
  readonly fileType: string | null;
  /** System properties that the caller sets. */
  readonly others?: ObjectValue;
  readonly content: Content;
}

/** The document of that name, whether or not the caller may see it. */
export async function documentNamed(space: Namespace, resource: InstanceResource, name: string): Promise<ObjectValue | null> {
  const filter = toFilter(parseWhere({ name: { $eq: name } }, resource.type, { username: '', namespace: '', now: 0 }));
  return (await read(space, resource, filter, 1))[0] ?? null;
}

/** Whether the caller may see a document. */
export const isVisible = (stored: ObjectValue, { identity }: Pick<Actor, 'identity'>): boolean =>
  isAdmin(identity) || identity.ofService === true || isOwn(stored, identity.username) || String(getOwn(stored, 'name')).startsWith(PUBLIC);

const isOwn = (stored: ObjectValue, username: string): boolean => getOwn(stored, 'ars_createdBy') === username;

/** @throws resource.duplicate.key: the document exists and the caller may not see it; authorization.denied: the caller may only see it */
export function requireReplaceable(stored: ObjectValue | null, name: string, { identity }: Actor): void {
  if (!stored || isAdmin(identity) || identity.ofService || isOwn(stored, identity.username)) return;
  if (!isVisible(stored, { identity })) throw apiError('cascade.resource.duplicate.key', 'documents', `name=${name}`);
  throw apiError('cascade.authorization.denied', 'update', 'documents');
}

export async function ensureCollections(space: Namespace, resource: InstanceResource): Promise<void> {
  await ensureCollection(space, resource);
  await ensureContentCollections(space.storage.db);
}

/** Stores documents in one commit; after a failure their files are removed. @returns their shown forms, in order */
export async function putDocuments(
  space: Namespace,
  resource: InstanceResource,
  documents: readonly NewDocument[],
  actor: Actor,
): Promise<ObjectValue[]> {
  try {
    return await changedInTurn(
      space,
      () => LINE,
      async () => {
        const shown: ObjectValue[] = [];
        const units: UnitOfWork[] = [];
        let growth = 0;
        for (const one of documents) {
          const [next, unit, bytes] = await unitOf(space, resource, one, actor);
          growth += bytes;
          shown.push(next);
          units.push(unit);
        }
        await requireDocumentBytes(space, growth);
        const whole = { writes: units.flatMap(({ writes }) => writes), events: units.flatMap(({ events }) => events) };
        await actor.commit(whole, { ok: encodeInner(shown.length === 1 ? (shown[0] as ObjectValue) : shown) });
        sweepSoon(space);
        return shown;
      },
    );
  } catch (error) {
    await Promise.all(documents.map(({ content }) => abandon(space, content.file)));
    throw error;
  }
}

async function unitOf(
  space: Namespace,
  resource: InstanceResource,
  { name, fileType, others = {}, content }: NewDocument,
  actor: Actor,
): Promise<[ObjectValue, UnitOfWork, growth: number]> {
  const { type, collection } = resource;
  const stored = await documentNamed(space, resource, name);
  requireReplaceable(stored, name, actor);
  const kept = stored && fileType === null ? getOwn(stored, 'fileType') : null;
  const own: ObjectValue = {
    name,
    fileType: kept ?? fileType ?? fileTypeOf(name, null),
    content: contentPath(name),
    contentSize: content.sizeBytes,
    ...others,
  };
  const next = stored ? stampChanged({ ...stored, ...own }, stored, actor) : stampNew(own, actor);
  const document = instanceToBson(type, next) as never;
  const events = raise(space, instanceEvent(resource, stored ? 'update' : 'insert'), next, actor);
  const before = stored && (await contentOf(space, idOf(stored)));
  const id = idToBson(idOf(next)) as never;
  const write = stored
    ? ({ collection, op: 'replace', id, version: versionOf(stored), document } as const)
    : ({ collection, op: 'insert', document } as const);
  const growth = content.sizeBytes - (before?.sizeBytes ?? 0);
  return [next, { writes: [write, ...contentWrites(idOf(next), content, before)], events }, growth];
}

/** Inserts a copy of another document (`fromName`). An UPSERT of an existing document may change its type instead. */
export async function insertCopy(
  space: Namespace,
  resource: InstanceResource,
  body: Value,
  actor: Actor,
  upsert: boolean,
): Promise<ObjectValue | null> {
  if (!isObject(body)) throw apiError('cascade.request.body.invalid', 'an object is expected', 0);
  const given = (name: string): Value => (Object.hasOwn(body, name) ? getOwn(body, name) : null);
  if (given('content') !== null && given('fromName') === null && !upsert)
    throw apiError('cascade.request.content.type', 'application/json');
  if (upsert && given('name') === null) throw apiError('cascade.upsert.key.missing', 'documents', 'name');
  const name = textField('documents', body, 'name');
  checkDocumentName(name);
  await ensureCollections(space, resource);
  if (upsert && given('fromName') === null) {
    const stored = await documentNamed(space, resource, name);
    if (!stored) throw apiError('cascade.resource.property.required', 'documents', 'fromName');
    requireReplaceable(stored, name, actor);
    const change = (before: ObjectValue): ObjectValue => ({ ...before, ...requireChangeable(before, body) });
    return updateOne(space, resource, async () => (await documentNamed(space, resource, name)) ?? stored, change, actor);
  }
  for (const key of Object.keys(body))
    if (!COPIED.includes(key) && !isServiceSet(key) && !READ_ONLY.includes(key) && !key.startsWith('ars_'))
      throw apiError('cascade.resource.property.unknown', 'documents', key);
  const others = omit(checkFields({ name: 'documents', type: CHANGED }, omit(body, ['fromName']), 'refused'), [...COPIED, ...READ_ONLY]);
  return copyDocument(space, resource, textField('documents', body, 'fromName'), { name, fileType: given('fileType'), others }, actor);
}

/** Copies a document that the caller may see. @throws resource.not.found */
export async function copyDocument(
  space: Namespace,
  resource: InstanceResource,
  from: string,
  { name, fileType, others }: { name: string; fileType: Value; others: ObjectValue },
  actor: Actor,
): Promise<ObjectValue> {
  checkDocumentName(name);
  if (fileType !== null) requireFileType(fileType);
  await ensureCollections(space, resource);
  const original = await documentNamed(space, resource, from);
  const content = original && isVisible(original, actor) ? await contentOf(space, idOf(original)) : null;
  if (!original || !content) throw apiError('cascade.resource.not.found', `/documents/${from}`);
  requireReplaceable(await documentNamed(space, resource, name), name, actor);
  const source = readContent(space, content, 0, content.sizeBytes);
  const bytes = (async function* () {
    for (let piece = await source.next(); piece !== null; piece = await source.next()) yield piece;
  })();
  try {
    const copied = await storeContent(space, name, bytes, Number.MAX_SAFE_INTEGER);
    const kind = String(fileType ?? getOwn(original, 'fileType'));
    const [stored] = await putDocuments(space, resource, [{ name, fileType: kind, others, content: copied }], actor);
    return stored as ObjectValue;
  } finally {
    await source.close();
  }
}

const READ_ONLY = ['content', 'contentSize'];

/**
 * Checks a change: it may set `fileType` and system properties of callers.
 * @returns the body without properties of the service
 * @throws resource.key.immutable, resource.property.invalid, resource.property.unknown
 */
export function requireChangeable(stored: ObjectValue, body: ObjectValue): ObjectValue {
  const fields = checkFields({ name: 'documents', type: CHANGED }, body, 'refused');
  if (Object.hasOwn(fields, 'name') && getOwn(fields, 'name') !== getOwn(stored, 'name'))
    throw apiError('cascade.resource.key.immutable', 'documents', 'name');
  for (const key of READ_ONLY)
    if (Object.hasOwn(fields, key) && String(getOwn(fields, key)) !== String(getOwn(stored, key)))
      throw apiError('cascade.resource.property.invalid', 'documents', key, 'it is read-only');
  if (Object.hasOwn(fields, 'fileType')) requireFileType(getOwn(fields, 'fileType'));
  return fields;
}

/** @throws resource.property.invalid */
export function requireFileType(fileType: Value): void {
  if (typeof fileType !== 'string' || !isMediaType(fileType))
    throw apiError('cascade.resource.property.invalid', 'documents', 'fileType', 'no media type');
}

/** The type by which a change is checked. */
export const CHANGED = {
  properties: new Map(
    Object.entries({ name: 'String', fileType: 'String', content: 'String', contentSize: 'Integer' }).map(([name, base]) => [
      name,
      { name, base, multi: false },
    ]),
  ),
} as never;
