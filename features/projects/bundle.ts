// A project as one value: its files by their paths below the project's root (resources-and-api.md 11). Definitions are Objects, programs
// are texts, data are arrays; a document is a text, or an Object with its bytes in Base64, or with only the digest where it is too large.

import { createHash } from 'node:crypto';
import { getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { Identity } from '../../identity/index.ts';
import { apiError, isApiError } from '../../model/errors/index.ts';
import { toJson } from '../../model/values/index.ts';
import { definitionsFor, isThereFor } from '../../resources/access/index.ts';
import type { DefinitionResource, Namespace } from '../../resources/catalog/index.ts';
import { definitionJson, shown, visible, type DefinitionBatch } from '../../resources/definitions/index.ts';
import { canonical, FOLDERS, isOwn, JSON_FOLDERS, type Members, parseExact, isProgram, toSend, withoutUnset } from './layout.ts';

/** Files per import, comparison or export. */
export const MOST_FILES = 5_000;

export interface ProjectFile {
  /** Path below the root, with the folder. */
  readonly file: string;
  readonly folder: string;
  /** Path below the folder. */
  readonly path: string;
  readonly value: Value;
}

/**
 * The files of a body, ordered by name.
 * @param skipped receives the paths that are no project files
 * @throws resource.property.required; request.too.many.instances
 */
export function filesIn(data: Value, skipped: string[]): ProjectFile[] {
  const files = isObject(data) && Object.hasOwn(data, 'files') ? getOwn(data, 'files') : null;
  if (!isObject(files)) throw apiError('cascade.resource.property.required', 'projects', 'data.files');
  const names = Object.keys(files);
  if (names.length > MOST_FILES) throw apiError('cascade.request.too.many.instances', MOST_FILES);
  return names.sort().flatMap((file): ProjectFile[] => {
    const [, folder = '', path = ''] = /^([^/]+)\/(.+)$/s.exec(file) ?? [];
    const isHidden = file.split('/').some((part) => part.startsWith('.'));
    const isJson = path.endsWith('.json');
    const isOurs = JSON_FOLDERS.includes(folder) ? isJson : isProgram(folder) ? !isJson : FOLDERS.includes(folder);
    if (!isOurs || path === '' || isHidden) {
      skipped.push(file);
      return [];
    }
    return [{ file, folder, path, value: getOwn(files, file) }];
  });
}

export const kindOf = (space: Namespace, folder: string): DefinitionResource => {
  const kind = space.catalog.features.kind(folder);
  if (!kind) throw new Error(`no resource ${folder}`);
  return kind;
};

/** The members of a definition as project files have them, for comparison. */
export const membersOf = (space: Namespace, kind: DefinitionResource, stored: ObjectValue): Members =>
  parseExact(definitionJson(visible(kind, shown(space, kind, stored)))) as Members;

export const plain = (value: Value): unknown => parseExact(toJson(value));

/** The definitions of a folder that belong to projects and that the caller may know of. */
export const definitionsOf = (space: Namespace, folder: string, caller: Identity): [name: string, stored: ObjectValue][] =>
  definitionsFor(space, kindOf(space, folder), caller).filter(([name]) => !isOwn(folder, name));

/** One of them. */
export function definitionAt(space: Namespace, folder: string, name: string, caller: Identity): ObjectValue | undefined {
  const stored = space.catalog.definitions.get(folder, name);
  return stored && isThereFor(space, kindOf(space, folder), stored, caller) ? stored : undefined;
}

/** The bytes of a document; null where the file has only the digest. @throws resource.property.invalid */
export function bytesOf({ file, value }: ProjectFile): Uint8Array | null {
  if (typeof value === 'string') return Buffer.from(value, 'utf8');
  const member = (name: string): Value => (isObject(value) && Object.hasOwn(value, name) ? getOwn(value, name) : null);
  const text = member('base64');
  if (typeof text === 'string' && /^[A-Za-z0-9+/]*={0,2}$/.test(text)) return Buffer.from(text, 'base64');
  if (typeof member('digest') === 'string') return null;
  throw apiError('cascade.resource.property.invalid', 'projects', file, 'neither a text nor an Object with base64 or digest');
}

/** SHA-256 of a document's bytes, in lower-case hex. @throws resource.property.invalid */
export function digestOf(file: ProjectFile): string {
  const bytes = bytesOf(file);
  return bytes ? createHash('sha256').update(bytes).digest('hex') : String(getOwn(file.value as ObjectValue, 'digest'));
}

/** The text of a program. @throws resource.property.invalid */
export function programIn({ file, value }: ProjectFile): string {
  if (typeof value !== 'string') throw apiError('cascade.resource.property.invalid', 'projects', file, 'no text of a program');
  return value.replace(/^\uFEFF/, '');
}

/** The definition in a file, as of now. @throws resource.property.invalid */
export function definitionIn(space: Namespace, { file, folder, value }: ProjectFile, stored: ObjectValue | undefined): ObjectValue {
  if (!isObject(value)) throw apiError('cascade.resource.property.invalid', 'projects', file, 'no JSON object');
  return kindOf(space, folder).fromFile?.(value, stored, space.clock.now()) ?? value;
}

/** The members of a file that have a value: files of other versions have further ones (11). */
export function givenIn(value: ObjectValue): ObjectValue {
  const given: ObjectValue = {};
  for (const name of Object.keys(toSend(plain(value) as Members))) setOwn(given, name, getOwn(value, name));
  return given;
}

/**
 * Whether an import would leave a definition unchanged: what it would store, the file's members merged into the stored ones, equals what is
 * stored. A secret that the file gives is a change: what is stored is sealed, and nobody may find out by guessing.
 */
export async function isAsStored(
  batch: DefinitionBatch,
  kind: DefinitionResource,
  given: ObjectValue,
  stored: ObjectValue,
): Promise<boolean> {
  const there = membersOf(batch.space, kind, stored);
  // Most files of a second import are equal, member by member. This asks for no rights: a comparison is for readers, too.
  if (canonical({ ...there, ...toSend(plain(given) as Members) }) === canonical(there)) return true;
  return isSame(batch, kind, stored, () => batch.preview(kind, givenIn(given), stored));
}

/** Whether a stored definition equals the one that would be made if there were none. */
export const isAsNew = (batch: DefinitionBatch, kind: DefinitionResource, given: ObjectValue, stored: ObjectValue): Promise<boolean> =>
  isSame(batch, kind, stored, () => batch.preview(kind, givenIn(given), null));

async function isSame(
  batch: DefinitionBatch,
  kind: DefinitionResource,
  stored: ObjectValue,
  preview: () => Promise<ObjectValue>,
): Promise<boolean> {
  try {
    const next = await preview();
    return comparedText(batch.space, kind, next) === comparedText(batch.space, kind, stored);
  } catch (error) {
    if (isApiError(error)) return false;
    throw error;
  }
}

/** A text that is equal for equal definitions; what is hidden is sealed anew whenever it is given, and stays the same otherwise. */
function comparedText(space: Namespace, kind: DefinitionResource, object: ObjectValue): string {
  const { hidden } = kind;
  const inside = hidden !== undefined && Object.hasOwn(object, hidden) ? getOwn(object, hidden) : null;
  const members = membersOf(space, kind, object);
  return canonical(kind.name === 'types' ? withoutUnset(members) : members) + canonical({ hidden: plain(inside ?? {}) });
}
