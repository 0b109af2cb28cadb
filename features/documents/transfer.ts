// Uploads and downloads of documents over HTTP. Parts of an upload are stored as they arrive.
import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { ApiReply, ApiRequest, UploadedPart } from '../../resources/api.ts';
import { apiError } from '../../model/errors/index.ts';
import { instanceToJson } from '../../model/values/index.ts';
import { requireRight } from '../../resources/access/index.ts';
import type { InstanceResource, Namespace } from '../../resources/catalog/index.ts';
import { idOf } from '../../resources/representation/index.ts';
import { counted, reply } from '../../resources/requests/index.ts';
import { documentNamed, isVisible, ensureCollections, type NewDocument, putDocuments, requireReplaceable } from './change.ts';
import { abandon, contentOf, keepListed, readContent, storeContent } from './content-store.ts';
import { checkDocumentName, fileTypeOf, PUBLIC } from './names.ts';

export async function transferDocument(space: Namespace, resource: InstanceResource, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  const { transfer } = request;
  if (transfer?.kind === 'upload') {
    const stored = await upload(space, resource, transfer.parts, transfer.limitBytes, actor);
    return { ...reply(stored.length === 1 ? (stored[0] as string) : `[${stored.join(',')}]`), ...counted(request, stored.length) };
  }
  return download(space, resource, request, actor);
}

/** Stores all parts in one commit, or none. @returns the documents as texts */
async function upload(
  space: Namespace,
  resource: InstanceResource,
  parts: AsyncIterable<UploadedPart>,
  limitBytes: number,
  actor: Actor,
): Promise<string[]> {
  requireRight(space, resource, 'insert', actor.identity);
  await ensureCollections(space, resource);
  const received: NewDocument[] = [];
  using _kept = keepListed(space, () => received.map(({ content }) => content.file));
  try {
    for await (const { name, fileType, bytes } of parts) {
      checkDocumentName(name);
      if (received.some((one) => one.name === name)) throw apiError('cascade.request.body.invalid', `two parts are ${name}`, 0);
      requireReplaceable(await documentNamed(space, resource, name), name, actor);
      received.push({ name, fileType: fileTypeOf(name, fileType), content: await storeContent(space, name, bytes, limitBytes) });
    }
    if (received.length === 0) throw apiError('cascade.request.body.invalid', 'it has no part', 0);
  } catch (error) {
    await Promise.all(received.map(({ content }) => abandon(space, content.file)));
    throw error;
  }
  return (await putDocuments(space, resource, received, actor)).map((one) => instanceToJson(resource.type, one));
}

/** @throws resource.not.found, also where the caller may not see the document */
async function download(space: Namespace, resource: InstanceResource, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  const { resourceId: name = '', publicOnly } = request;
  if (!publicOnly) requireRight(space, resource, 'select', actor.identity);
  const gone = () => apiError('cascade.resource.not.found', `/documents/${name}`);
  const stored: ObjectValue | null = await documentNamed(space, resource, name);
  if (!stored || !(publicOnly ? name.startsWith(PUBLIC) : isVisible(stored, actor))) throw gone();
  const content = await contentOf(space, idOf(stored));
  if (!content) throw gone();
  const { sizeBytes, digest } = content;
  return {
    status: 200,
    content: {
      fileType: String(getOwn(stored, 'fileType')),
      sizeBytes,
      digest,
      open: (from, to) => readContent(space, content, from, to),
    },
  };
}
