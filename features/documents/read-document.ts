// Reads documents for programs and built-ins, up to a size that fits in their memory.
import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { parseWhere, toFilter } from '../../model/query/index.ts';
import { ownOnly } from '../../resources/access/index.ts';
import { read } from '../../resources/instances/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { idOf } from '../../resources/representation/index.ts';
import { documentNamed, isVisible } from './change.ts';
import { contentOf, readContent } from './content-store.ts';
import { DOCUMENTS } from './documents-type.ts';
import { isText } from './names.ts';

export interface ReadDocument {
  readonly bytes: Buffer;
  readonly fileType: string;
  readonly isText: boolean;
}

/** @throws resource.not.found, also where the caller may not see it; document.too.large */
export async function readDocument(
  space: Namespace,
  name: string,
  actor: Pick<Actor, 'identity'>,
  mostBytes: number,
): Promise<ReadDocument> {
  const pieces: Buffer[] = [];
  const stored = await readInPieces(space, name, actor, mostBytes, (piece) => pieces.push(Buffer.from(piece)));
  const fileType = String(getOwn(stored, 'fileType'));
  return { bytes: Buffer.concat(pieces), fileType, isText: isText(fileType) };
}

/** The same piece by piece. @param take a piece is its own for the time of the call @returns the document without its content */
export async function readInPieces(
  space: Namespace,
  name: string,
  actor: Pick<Actor, 'identity'>,
  mostBytes: number,
  take: (piece: Buffer) => void,
): Promise<ObjectValue> {
  const stored = await documentNamed(space, DOCUMENTS, name);
  const content = stored && isVisible(stored, actor) ? await contentOf(space, idOf(stored)) : null;
  if (!stored || !content) throw apiError('cascade.resource.not.found', `/documents/${name}`);
  if (content.sizeBytes > mostBytes) throw apiError('cascade.document.too.large', name, `more than ${mostBytes} bytes`);
  const source = readContent(space, content, 0, content.sizeBytes);
  try {
    for (let piece = await source.next(); piece !== null; piece = await source.next()) take(piece);
  } finally {
    await source.close();
  }
  return stored;
}

/** SHA-256 of a document's bytes; null: it does not exist, or the caller may not see it. */
export async function digestOfDocument(space: Namespace, name: string, actor: Pick<Actor, 'identity'>): Promise<string | null> {
  const stored = await documentNamed(space, DOCUMENTS, name);
  return (stored && isVisible(stored, actor) ? await contentOf(space, idOf(stored)) : null)?.digest ?? null;
}

export interface ListedDocument {
  readonly name: string;
  readonly sizeBytes: number;
  readonly digest: string;
}

/** Documents that the caller may see, by name. @param most the maximum number */
export async function listDocuments(space: Namespace, actor: Pick<Actor, 'identity'>, most: number): Promise<ListedDocument[]> {
  const all = { username: actor.identity.username, namespace: space.name, now: 0 };
  const own = ownOnly(space, DOCUMENTS, 'select', actor.identity) ?? {};
  const stored = await read(space, DOCUMENTS, toFilter(parseWhere(own, DOCUMENTS.type, all)), most);
  const listed: ListedDocument[] = [];
  for (const one of stored) {
    const content = await contentOf(space, idOf(one));
    if (content) listed.push({ name: String(getOwn(one, 'name')), sizeBytes: content.sizeBytes, digest: content.digest });
  }
  return listed.sort((a, b) => (a.name < b.name ? -1 : 1));
}
