// A document's content for programs and built-ins, up to a size that they can hold.
import { getOwn } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/actor.ts';
import { fault } from '../../model/errors/faults.ts';
import type { Namespace } from '../../resources/catalog/types.ts';
import { idOf } from '../../resources/representation/stamp.ts';
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
  const stored = await documentNamed(space, DOCUMENTS, name);
  const content = stored && isVisible(stored, actor) ? await contentOf(space, idOf(stored)) : null;
  if (!stored || !content) throw fault('cascade.resource.not.found', `/documents/${name}`);
  if (content.sizeBytes > mostBytes) throw fault('cascade.document.too.large', name, `more than ${mostBytes} bytes`);
  const source = readContent(space, content, 0, content.sizeBytes);
  const pieces: Buffer[] = [];
  try {
    for (let piece = await source.next(); piece !== null; piece = await source.next()) pieces.push(Buffer.from(piece));
  } finally {
    await source.close();
  }
  const fileType = String(getOwn(stored, 'fileType'));
  return { bytes: Buffer.concat(pieces), fileType, isText: isText(fileType) };
}
