// Imports a project into a namespace in one commit (resources-and-api.md 11). Resources that equal their file are not written, and none is
// deleted. A file that depends on a later one is retried until no further file succeeds.

import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { CascadeError } from '../../stdlib/errors.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { DuplicateKey, type UnitOfWork, VersionConflict } from '../../runtime/transactions/index.ts';
import { CascadeErrors, errorDocument, apiError, isApiError } from '../../model/errors/index.ts';
import { may, requireRight } from '../../resources/access/index.ts';
import { resolve, type InstanceResource, type Namespace } from '../../resources/catalog/index.ts';
import { DefinitionBatch } from '../../resources/definitions/index.ts';
import { insertOne, upsertKeys, duplicateOf, upsertOne } from '../../resources/instances/index.ts';
import { nextSlice, SLICE_MS } from '../../platform/structures/index.ts';
import { digestOfDocument, saveDocument } from '../documents/index.ts';
import {
  bytesOf,
  definitionIn,
  definitionsOf,
  digestOf,
  filesIn,
  givenIn,
  isAsStored,
  kindOf,
  plain,
  programIn,
  type ProjectFile,
} from './bundle.ts';
import { documentName, isOwn, isProgram, JSON_AFTER, JSON_BEFORE, PROGRAMS } from './layout.ts';

/** The result of an import. */
export interface Imported {
  /** Files that changed something. */
  loaded: string[];
  /** Files that equal the namespace's resources. */
  unchanged: string[];
  /** Paths that are no project files, or belong to the service. */
  skipped: string[];
  warnings: string[];
}

/** Some files could not be imported, so none was; has the errors of each. */
export class ImportRefused extends Error {
  /** The status of all errors; 400 where they differ. */
  readonly status: number;
  readonly errors: { readonly file: string; readonly code: string; readonly message: string; readonly params: readonly unknown[] }[];

  constructor(failed: ReadonlyMap<string, CascadeError | CascadeErrors>) {
    super('files of a project could not be loaded');
    const each = [...failed]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([file, error]) => ({ file, errors: error instanceof CascadeErrors ? error.errors : [error] }));
    this.status = new CascadeErrors(each.flatMap(({ errors }) => errors)).status;
    this.errors = each.flatMap(({ file, errors }) => errors.map((one) => ({ ...errorDocument(one), file })));
  }
}

type Failed = Map<string, CascadeError | CascadeErrors>;

const TRIES = 5;
/** Instances in all data files together. */
const MOST_ROWS = 10_000;
/** Retries of files end after this time. */
const MOST_MS = 60_000;

/** @throws ImportRefused; request.too.many.instances, request.timeout; resource.duplicate.key */
export async function importProject(space: Namespace, data: Value, actor: Actor): Promise<Imported> {
  const deadline = performance.now() + MOST_MS;
  for (let tries = 0; ; tries++)
    try {
      return await once(space, data, actor, deadline);
    } catch (error) {
      // Another request has changed what the import was based on: it starts over.
      if (!(error instanceof VersionConflict || error instanceof Taken)) throw error;
      if (tries < TRIES) continue;
      throw error instanceof Taken ? error.refusal : apiError('cascade.update.authorization.or.version.conflict', '/projects/*', 0, 0);
    }
}

/** A unique key is taken by another instance, of the namespace or of the import. */
class Taken extends Error {
  readonly refusal: CascadeError;
  constructor(refusal: CascadeError) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

async function once(space: Namespace, data: Value, actor: Actor, deadline: number): Promise<Imported> {
  const done: Imported = { loaded: [], unchanged: [], skipped: [], warnings: [] };
  const files = filesIn(data, done.skipped);
  const batch = new DefinitionBatch(space, actor, typesIn(files));
  const failed: Failed = new Map();
  const present = new ProgramsThere(space, actor);
  const of = (folders: readonly string[]): ProjectFile[] => folders.flatMap((folder) => files.filter((one) => one.folder === folder));
  const [documents, rows] = [of(['documents']), of(['data'])];
  requireRoom(rows);
  try {
    const definitions = of([...JSON_BEFORE, ...PROGRAMS, ...JSON_AFTER]);
    await inPasses(space.name, definitions, (file) => planned(space, batch, file, done, actor, present), failed, deadline);
    if (failed.size > 0) throw new ImportRefused(failed);
    if (batch.size === 0 && documents.length + rows.length === 0) return done;
    const others = async (by: Actor): Promise<void> => {
      await inPasses(space.name, documents, (file) => withDocument(space, file, by, done), failed, deadline);
      await inPasses(space.name, rows, (file) => withData(batch.space, file, by, done), failed, deadline);
      if (failed.size > 0) throw new ImportRefused(failed);
    };
    await batch.store(others, () => done as unknown as ObjectValue);
    return done;
  } catch (error) {
    batch.abandon();
    if (!(error instanceof DuplicateKey)) throw error;
    const type = batch.space.catalog.types.ofCollection(error.collection);
    throw new Taken(type ? duplicateOf(error, type) : apiError('cascade.resource.duplicate.key', 'projects', 'name'));
  }
}

/** The names of the types of a project: each is stored, or the import is refused. */
function typesIn(files: readonly ProjectFile[]): string[] {
  const names = files.map(({ folder, value }) =>
    folder === 'types' && isObject(value) && Object.hasOwn(value, 'name') ? getOwn(value, 'name') : null,
  );
  return names.filter((name) => typeof name === 'string' && !isOwn('types', name)) as string[];
}

/** @throws request.too.many.instances */
function requireRoom(files: readonly ProjectFile[]): void {
  const count = files.reduce((sum, { value }) => sum + (Array.isArray(value) ? value.length : 0), 0);
  if (count > MOST_ROWS) throw apiError('cascade.request.too.many.instances', MOST_ROWS);
}

/**
 * Runs passes over the files while some of them succeed, forwards and backwards in turn: a chain of dependencies is resolved in two passes,
 * whichever way it runs.
 * @throws request.timeout
 */
async function inPasses(
  namespace: string,
  files: readonly ProjectFile[],
  load: (file: ProjectFile) => Promise<void>,
  failed: Failed,
  deadline: number,
): Promise<void> {
  let waiting = files;
  let sliceEnd = performance.now() + SLICE_MS;
  for (;;) {
    const left: ProjectFile[] = [];
    for (const file of waiting) {
      if (performance.now() > sliceEnd) {
        if (performance.now() > deadline) throw apiError('cascade.request.timeout', MOST_MS);
        await nextSlice(namespace);
        sliceEnd = performance.now() + SLICE_MS;
      }
      try {
        await load(file);
        failed.delete(file.file);
      } catch (error) {
        if (!isApiError(error)) throw error;
        failed.set(file.file, error);
        left.push(file);
      }
    }
    if (left.length === 0 || left.length === waiting.length) return;
    waiting = left.reverse();
  }
}

/** The texts of the programs that the caller may see, which an import leaves alone. */
class ProgramsThere {
  readonly #space: Namespace;
  readonly #actor: Actor;
  readonly #texts = new Map<string, ReadonlySet<Value>>();

  constructor(space: Namespace, actor: Actor) {
    this.#space = space;
    this.#actor = actor;
  }

  has(folder: string, ruleText: string): boolean {
    let texts = this.#texts.get(folder);
    if (!texts) {
      const all = definitionsOf(this.#space, folder, this.#actor.identity);
      this.#texts.set(folder, (texts = new Set(all.map(([, stored]) => getOwn(stored, 'ruleText')))));
    }
    return texts.has(ruleText);
  }
}

async function planned(
  space: Namespace,
  batch: DefinitionBatch,
  file: ProjectFile,
  done: Imported,
  { identity }: Actor,
  present: ProgramsThere,
): Promise<void> {
  const kind = kindOf(space, file.folder);
  const requireFor = (operation: 'insert' | 'update'): void => requireRight(space, kind, operation, identity);
  if (isProgram(file.folder)) {
    const ruleText = programIn(file);
    if (present.has(file.folder, ruleText)) return void done.unchanged.push(file.file);
    requireFor(may(space, kind, 'update', identity) ? 'update' : 'insert'); // nothing is compiled for who may store nothing
    const name = await batch.plan(kind, { ruleText }, requireFor);
    if (file.folder === 'procedures') await implied(batch, name);
  } else {
    if (!isObject(file.value)) throw apiError('cascade.resource.property.invalid', 'projects', file.file, 'no JSON object');
    const name = Object.hasOwn(file.value, 'name') ? getOwn(file.value, 'name') : null;
    if (typeof name !== 'string') throw apiError('cascade.resource.property.required', file.folder, 'name');
    if (isOwn(file.folder, name)) return void done.skipped.push(file.file);
    const stored = space.catalog.definitions.get(file.folder, name);
    const given = definitionIn(space, file, stored);
    if (stored && (await isAsStored(batch, kind, given, stored))) return void done.unchanged.push(file.file);
    requireFor(stored ? 'update' : 'insert');
    await batch.plan(kind, givenIn(given));
  }
  done.loaded.push(file.file);
}

/** Adds the service that is implied by a planned procedure (4.5) to the commit. */
async function implied(batch: DefinitionBatch, procedure: string): Promise<void> {
  const { space } = batch;
  const planned = space.catalog.definitions.get('procedures', procedure);
  const name = planned && getOwn(planned, 'serviceName');
  if (typeof name === 'string' && !space.catalog.definitions.get('services', name)) await batch.plan(kindOf(space, 'services'), { name });
}

async function withDocument(space: Namespace, file: ProjectFile, by: Actor, done: Imported): Promise<void> {
  const name = documentName(file.path);
  const there = await digestOfDocument(space, name, by);
  if (there === digestOf(file)) return void done.unchanged.push(file.file);
  const bytes = bytesOf(file);
  if (!bytes) throw apiError('cascade.resource.property.invalid', 'projects', file.file, 'its bytes are not given, and others are there');
  await saveDocument(space, { name, declaredType: null, bytes }, by, null);
  done.loaded.push(file.file);
}

async function withData(space: Namespace, file: ProjectFile, by: Actor, done: Imported): Promise<void> {
  const name = file.path.replace(/\.json$/, '');
  const resource = resolve(space, name, true);
  if (resource.kind !== 'instances' || resource.asType) throw apiError('cascade.resource.type.not.found', name);
  if (!Array.isArray(file.value)) throw apiError('cascade.resource.property.invalid', 'projects', file.file, 'no JSON array');
  const keys = upsertKeys(resource.type).filter((key) => resource.type.properties.has(key));
  const operation = keys.length > 0 ? 'upsert' : 'insert';
  if (!resource.operations.has(operation)) throw apiError('cascade.method.not.allowed', operation, name);
  requireRight(space, resource, operation, by.identity);
  // A file that fails at one of its rows may be tried again, and begins anew then: until all succeed none is a part of the import.
  const units: UnitOfWork[] = [];
  const apart: Actor = { ...by, commit: async (unit) => void units.push(unit) };
  await eachOnce(resource, keys, file.value, async (row) => {
    await (keys.length > 0 ? upsertOne(space, resource, row, apart) : insertOne(space, resource, row, apart));
  });
  for (const unit of units) await by.commit(unit);
  if (keys.length === 0) done.warnings.push(`${file.file}: ${name} has no natural key: a second import makes its instances twice`);
  done.loaded.push(file.file);
}

/** Requires that the import writes each instance once. @throws resource.duplicate.key */
async function eachOnce(
  resource: InstanceResource,
  keys: readonly string[],
  rows: readonly Value[],
  load: (row: Value) => Promise<void>,
): Promise<void> {
  const seen = new Set<string>();
  for (const row of rows) {
    const own = isObject(row) ? row : {};
    const key = JSON.stringify(keys.map((name) => plain(Object.hasOwn(own, name) ? getOwn(own, name) : null)));
    if (keys.length > 0 && seen.has(key)) throw apiError('cascade.resource.duplicate.key', resource.name, `${keys.join(', ')}=${key}`);
    seen.add(key);
    await load(row);
  }
}
