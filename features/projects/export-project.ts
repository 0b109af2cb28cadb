// Exports a namespace as project files (resources-and-api.md 11), and compares files with it.

import { getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { parseJson } from '../../model/values/index.ts';
import { inSlices, nextSlice, SLICE_MS } from '../../platform/structures/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { DefinitionBatch } from '../../resources/definitions/index.ts';
import { requiredText } from '../../resources/requests/index.ts';
import { may, requireRight } from '../../resources/access/index.ts';
import { digestOfDocument, type ListedDocument, listDocuments, readDocument } from '../documents/index.ts';
import {
  definitionAt,
  definitionIn,
  definitionsOf,
  digestOf,
  filesIn,
  isAsNew,
  isAsStored,
  kindOf,
  membersOf,
  MOST_FILES,
  programIn,
  type ProjectFile,
} from './bundle.ts';
import { documentName, filesOf, isOwn, isProgram, JSON_FOLDERS, PROGRAMS, programName, written } from './layout.ts';

/** Size limits for included documents: of one, and of all together. Larger ones are represented by their digest, and fetched from /docs. */
const MOST_OF_ONE = 1_048_576;
const MOST_OF_ALL = 4 * MOST_OF_ONE;

/** The resources of a project; null: all of the namespace. */
export type Chosen = ReadonlySet<string> | null;

/** The resources that a named project lists; `*` means all. @throws authorization.denied, resource.not.found */
export function chosenBy(space: Namespace, id: string, { identity }: Actor): Chosen {
  if (id === '*') return null;
  requireRight(space, kindOf(space, 'projects'), 'select', identity);
  const found = space.catalog.definitions.find('projects', id);
  if (!found) throw apiError('cascade.resource.not.found', `/projects/${id}`);
  const listed = (getOwn(found.object, 'resources') as ObjectValue[]).map((entry) => String(getOwn(entry, 'resourceReference')));
  return new Set([...listed, `/projects/${found.name}`]);
}

const isChosen = (chosen: Chosen, folder: string, name: string): boolean => chosen === null || chosen.has(`/${folder}/${name}`);

/** The definitions of a folder that belong to the project and that the caller may see. */
function seenIn(space: Namespace, folder: string, chosen: Chosen, { identity }: Actor): [name: string, stored: ObjectValue][] {
  if (!may(space, kindOf(space, folder), 'select', identity)) return [];
  return definitionsOf(space, folder, identity).filter(([name]) => isChosen(chosen, folder, name));
}

/** @throws request.too.many.instances */
async function documentsOf(space: Namespace, chosen: Chosen, actor: Actor): Promise<ListedDocument[]> {
  const listed = await listDocuments(space, actor, MOST_FILES + 1);
  if (listed.length > MOST_FILES) throw apiError('cascade.request.too.many.instances', MOST_FILES);
  return listed.filter(({ name }) => isChosen(chosen, 'documents', name));
}

/** @returns files by their paths */
export async function exportProject(space: Namespace, chosen: Chosen, actor: Actor): Promise<ObjectValue> {
  const files: ObjectValue = {};
  for (const folder of [...JSON_FOLDERS, ...PROGRAMS]) {
    const seen = seenIn(space, folder, chosen, actor);
    const paths = filesOf(folder, seen.map(nameIn));
    const contents = await inSlices(space.name, contentsOf(space, folder, seen));
    for (const [name, content] of contents) setOwn(files, `${folder}/${paths.get(name)}`, content);
  }
  let bytesLeft = MOST_OF_ALL;
  const documents = await documentsOf(space, chosen, actor);
  const paths = filesOf(
    'documents',
    documents.map(({ name }) => name),
  );
  for (const { name, sizeBytes, digest } of documents) {
    const goesAlong = sizeBytes <= Math.min(MOST_OF_ONE, bytesLeft);
    if (goesAlong) bytesLeft -= sizeBytes;
    const bytes = goesAlong ? (await readDocument(space, name, actor, MOST_OF_ONE)).bytes : null;
    setOwn(files, `documents/${paths.get(name)}`, bytes ? { base64: bytes.toString('base64') } : { digest, contentSize: sizeBytes });
  }
  return files;
}

function* contentsOf(space: Namespace, folder: string, seen: readonly [string, ObjectValue][]): Generator<[name: string, content: Value]> {
  for (const [name, stored] of seen) yield [name, contentOf(space, folder, stored)];
}

const nameIn = ([name]: readonly [string, ObjectValue]): string => name;

function contentOf(space: Namespace, folder: string, stored: ObjectValue): Value {
  if (isProgram(folder)) return getOwn(stored, 'ruleText');
  const members = written(membersOf(space, kindOf(space, folder), stored));
  // A service shows an interface that follows from its procedures: in a file it would be a declared one, without later procedures.
  if (folder === 'services' && getOwn(stored, 'interface') === null) delete members['interface'];
  return parseJson(JSON.stringify(members));
}

/** A resource that an import would change: `added` or `changed`; `removed`: only the namespace has it, and an import keeps it. */
export interface Difference {
  readonly file: string;
  /** `/<resource>/<name>`. */
  readonly resource: string;
  readonly change: 'added' | 'changed' | 'removed';
}

/** @throws request.too.many.instances; resource.property.invalid, .required: a file does not fit its folder */
export async function diffProject(space: Namespace, chosen: Chosen, data: Value, actor: Actor): Promise<Difference[]> {
  const here = new Set<string>();
  const batch = new DefinitionBatch(space, actor);
  const differences: Difference[] = [];
  let sliceEnd = performance.now() + SLICE_MS;
  for (const file of filesIn(data, [])) {
    if (performance.now() > sliceEnd) {
      await nextSlice(space.name);
      sliceEnd = performance.now() + SLICE_MS;
    }
    if (file.folder === 'data') continue;
    const [name, change] = await changeOf(space, batch, file, actor);
    if (isOwn(file.folder, name)) continue;
    here.add(`/${file.folder}/${name}`);
    if (change !== null) differences.push({ file: file.file, resource: `/${file.folder}/${name}`, change });
  }
  for (const there of await filesThere(space, chosen, actor))
    if (!here.has(there.resource) && !(await isImplied(space, batch, there.resource, here))) differences.push(there);
  return differences.sort((a, b) => (a.resource < b.resource ? -1 : 1));
}

/** Whether a service is implied by the procedures of the files (4.5). */
async function isImplied(space: Namespace, batch: DefinitionBatch, resource: string, here: ReadonlySet<string>): Promise<boolean> {
  const [, service] = /^\/services\/(.+)$/.exec(resource) ?? [];
  if (service === undefined || ![...here].some((one) => one.startsWith(`/procedures/${service}.`))) return false;
  const stored = space.catalog.definitions.get('services', service);
  return stored !== undefined && isAsNew(batch, kindOf(space, 'services'), { name: service }, stored);
}

type Change = Difference['change'] | null;

async function changeOf(space: Namespace, batch: DefinitionBatch, one: ProjectFile, actor: Actor): Promise<[name: string, change: Change]> {
  const { folder, file, value } = one;
  if (folder === 'documents') {
    const name = documentName(one.path);
    const there = await digestOfDocument(space, name, actor);
    return [name, there === null ? 'added' : there === digestOf(one) ? null : 'changed'];
  }
  const kind = kindOf(space, folder);
  const mayRead = may(space, kind, 'select', actor.identity);
  if (isProgram(folder)) {
    const text = programIn(one);
    const name = programName(text) ?? one.path;
    const stored = mayRead ? definitionAt(space, folder, name, actor.identity) : undefined;
    return [name, !stored ? 'added' : getOwn(stored, 'ruleText') === text ? null : 'changed'];
  }
  if (!isObject(value)) throw apiError('cascade.resource.property.invalid', 'projects', file, 'no JSON object');
  const name = requiredText(folder, value, 'name');
  const stored = mayRead ? definitionAt(space, folder, name, actor.identity) : undefined;
  return [name, !stored ? 'added' : (await isAsStored(batch, kind, definitionIn(space, one, stored), stored)) ? null : 'changed'];
}

async function filesThere(space: Namespace, chosen: Chosen, actor: Actor): Promise<Difference[]> {
  const removed = (folder: string, names: readonly string[]): Difference[] =>
    [...filesOf(folder, names)].map(([name, path]) => ({ file: `${folder}/${path}`, resource: `/${folder}/${name}`, change: 'removed' }));
  const definitions = [...JSON_FOLDERS, ...PROGRAMS].flatMap((folder) => removed(folder, seenIn(space, folder, chosen, actor).map(nameIn)));
  const documents = await documentsOf(space, chosen, actor);
  return [
    ...definitions,
    ...removed(
      'documents',
      documents.map(({ name }) => name),
    ),
  ];
}
