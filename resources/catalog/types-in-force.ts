// The types of a namespace, by name and by the collection of their instances.

import type { TypeDefinition } from '../../model/types/index.ts';

/** Bound of the deleted types whose names are kept, for late writes. */
const MOST_GONE = 1_000;

export class TypesInForce extends Map<string, TypeDefinition> {
  readonly #byCollection = new Map<string, TypeDefinition>();
  readonly #gone = new Map<string, string>();

  constructor() {
    super(); // the parent's constructor would set entries before the fields exist
  }

  override set(name: string, type: TypeDefinition): this {
    const before = this.get(name);
    if (before?.collection !== type.collection) this.#forget(before);
    this.#byCollection.set(type.collection, type);
    return super.set(name, type);
  }

  override delete(name: string): boolean {
    this.#forget(this.get(name));
    return super.delete(name);
  }

  ofCollection(collection: string): TypeDefinition | undefined {
    return this.#byCollection.get(collection);
  }

  /** The name of the type that a collection belongs or belonged to. */
  nameOf(collection: string): string {
    return this.ofCollection(collection)?.name ?? this.#gone.get(collection) ?? collection.slice('t.'.length);
  }

  /** Forgets a type's collection; after a renaming it may be registered with the new name already. */
  #forget(type: TypeDefinition | undefined): void {
    if (!type || this.ofCollection(type.collection)?.name !== type.name) return;
    this.#byCollection.delete(type.collection);
    this.#gone.set(type.collection, type.name);
    if (this.#gone.size > MOST_GONE) this.#gone.delete(this.#gone.keys().next().value as string);
  }
}
