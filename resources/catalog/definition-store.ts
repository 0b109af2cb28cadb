// The definitions of a namespace (types, rules, procedures, topics…): all in memory, and stored in one collection by kind and name.

import { BSON, type Db, type Document, Long, ObjectId } from 'mongodb';
import { getOwn, type ObjectValue, setOwn } from '../../stdlib/values/index.ts';
import type { Write } from '../../runtime/transactions/index.ts';
import { fromBson, KIND, StoredBytes, toBson } from '../../model/values/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import { idOf, versionOf } from '../representation/index.ts';

export const DEFINITIONS = 'resources';
/** The collection for definitions of an unfinished restore. */
export const RESTORED_DEFINITIONS = 'restoredDefinitions';
/** What stands beside the definition in its row: its name and that of a collection, which stand in the definition, too, and little else. */
const LITTLE_BYTES = 1_000;

/** The collection for instances of a new type: its name is never used again, so that a new type never meets instances of another. */
const collectionFor = (id: string): string => `t.${id}`;

/** A type, as far as it matters here. */
interface Declared extends Pick<TypeDefinition, 'collection'> {
  readonly properties: Pick<TypeDefinition['properties'], 'has'>;
}

interface Definition {
  readonly kind: string;
  readonly name: string;
  readonly object: ObjectValue;
}

export class DefinitionStore {
  readonly #kinds = new Map<string, Map<string, ObjectValue>>();
  /** Those that depend on a resource, by their addresses: few, which each deletion looks through. */
  readonly #dependents = new Map<string, Definition>();
  /** Collections of types, by the types' ids, where they differ from those of new types: earlier versions used the type's name. */
  readonly #collections = new Map<string, string>();

  /** Properties that were taken from a type and whose values may be stored still, by the type's collection. */
  readonly #removed = new Map<string, ReadonlySet<string>>();

  /** Called with the kind and name of each definition that has changed. */
  onChanged: ((kind: string, name: string) => void) | null = null;

  /** Reads all definitions of a namespace, in the order in which they were made. */
  static async load(db: Db): Promise<DefinitionStore> {
    const store = new DefinitionStore();
    const collection = db.collection(DEFINITIONS);
    await collection.createIndex({ kind: 1, name: 1 }, { unique: true, name: 'kind_name' });
    for await (const raw of collection.find({}, { raw: true, sort: { _id: 1 } })) {
      store.putRow(fromBson(raw));
    }
    return store;
  }

  /** A copy of the present state; later changes of one do not affect the other. */
  copy(): DefinitionStore {
    const copied = new DefinitionStore();
    for (const [kind, named] of this.#kinds) copied.#kinds.set(kind, new Map(named));
    for (const [address, definition] of this.#dependents) copied.#dependents.set(address, definition);
    for (const [id, collection] of this.#collections) copied.#collections.set(id, collection);
    for (const [collection, names] of this.#removed) copied.#removed.set(collection, names);
    return copied;
  }

  get(kind: string, name: string): ObjectValue | undefined {
    return this.#kinds.get(kind)?.get(name);
  }

  /** Finds a definition by name, else by `_id`. */
  find(kind: string, id: string): { name: string; object: ObjectValue } | undefined {
    const named = this.get(kind, id);
    if (named) return { name: id, object: named };
    for (const [name, object] of this.#kinds.get(kind) ?? []) if (idOf(object) === id) return { name, object };
    return undefined;
  }

  /** The name of the definition at an address (resources-and-api.md 1.2); the address where there is none. */
  nameAt(kind: string, id: string): string {
    return this.find(kind, id)?.name ?? id;
  }

  byId(id: string): { kind: string; name: string } | undefined {
    for (const [kind, named] of this.#kinds) for (const [name, object] of named) if (idOf(object) === id) return { kind, name };
    return undefined;
  }

  /** Those that depend on another resource. */
  dependents(): Definition[] {
    return [...this.#dependents.values()];
  }

  list(kind: string): [name: string, object: ObjectValue][] {
    return [...(this.#kinds.get(kind) ?? [])];
  }

  count(kind: string): number {
    return this.#kinds.get(kind)?.size ?? 0;
  }

  /** The collection that stores the instances of a type. */
  collectionOf(type: ObjectValue): string {
    return this.#collections.get(idOf(type)) ?? collectionFor(idOf(type));
  }

  /** Takes a definition from its row as it is stored. */
  putRow(row: ObjectValue): void {
    this.noteCollection(row);
    this.put(String(getOwn(row, 'kind')), String(getOwn(row, 'name')), getOwn(row, 'object') as ObjectValue);
  }

  /** Before `t.<_id>` was introduced, a collection had the name of its type and was renamed with it: such a row does not name it. */
  noteCollection(row: ObjectValue): void {
    if (getOwn(row, 'kind') !== 'types') return;
    const id = idOf(getOwn(row, 'object') as ObjectValue);
    const collection = Object.hasOwn(row, 'collection') ? String(getOwn(row, 'collection')) : `t.${String(getOwn(row, 'name'))}`;
    if (collection === collectionFor(id)) this.#collections.delete(id);
    else this.#collections.set(id, collection);
    this.noteRemoved(collection, Object.hasOwn(row, 'removed') ? String(getOwn(row, 'removed')).split(' ') : []);
  }

  /** @param names of all properties whose values are still to be removed from the collection */
  noteRemoved(collection: string, names: readonly string[]): void {
    if (names.length > 0) this.#removed.set(collection, new Set(names));
    else this.#removed.delete(collection);
  }

  /** The properties that a type does not declare any more, and whose values may be stored still. */
  removedFrom({ collection, properties }: Declared): string[] {
    return [...(this.#removed.get(collection) ?? [])].filter((name) => !properties.has(name));
  }

  /** What stands beside the definition of a type in its row. @param removed see `removedFrom` */
  besideType(type: Declared, removed = this.removedFrom(type)): Readonly<Record<string, string>> {
    return { collection: type.collection, ...(removed.length > 0 && { removed: removed.join(' ') }) };
  }

  put(kind: string, name: string, object: ObjectValue): void {
    const named = this.#kinds.get(kind) ?? new Map<string, ObjectValue>();
    this.#kinds.set(kind, named.set(name, object));
    if (Object.hasOwn(object, 'ars_dependentResource')) this.#dependents.set(`/${kind}/${name}`, { kind, name, object });
    else this.#dependents.delete(`/${kind}/${name}`);
    this.onChanged?.(kind, name);
  }

  remove(kind: string, name: string): void {
    this.#kinds.get(kind)?.delete(name);
    this.#dependents.delete(`/${kind}/${name}`);
    this.onChanged?.(kind, name);
  }
}

/**
 * The write that stores a definition: an insert, or a replacement of the version that was read.
 * @param beside additional members of the row
 */
export function definitionWrite(
  kind: string,
  name: string,
  object: ObjectValue,
  stored: ObjectValue | null,
  beside: Readonly<Record<string, string>> = {},
): Write {
  const id = ObjectId.createFromHexString(idOf(object));
  // As bytes: a commit of thousands only copies them, and they are made in slices before it.
  const bytes = BSON.serialize(toBson(object) as Document);
  const document: Document & { _id: ObjectId } = {
    _id: id,
    kind,
    name,
    ars_version: Long.fromBigInt(versionOf(object)),
    ...beside,
    object: new StoredBytes(KIND.document, bytes),
  };
  if (!stored) return { collection: DEFINITIONS, op: 'insert', document, mostBytes: 3 * bytes.length + LITTLE_BYTES };
  return { collection: DEFINITIONS, op: 'replace', id, version: versionOf(stored), document, bytes: bytes.length };
}

export const definitionRemoval = (stored: ObjectValue): Write => ({
  collection: DEFINITIONS,
  op: 'delete',
  id: ObjectId.createFromHexString(idOf(stored)),
  version: versionOf(stored),
});

/** A copy without the named members. */
export function omit(object: ObjectValue, names: readonly string[]): ObjectValue {
  const rest: ObjectValue = {};
  for (const key of Object.keys(object)) if (!names.includes(key)) setOwn(rest, key, getOwn(object, key));
  return rest;
}
