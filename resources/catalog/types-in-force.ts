// The types of a namespace, by name and by the collection that holds their instances.

import type { TypeDefinition } from '../../model/types/index.ts';

/** How many types that are gone are known by name, for writes that come late. */
const MOST_GONE = 1_000;

export class TypesInForce extends Map<string, TypeDefinition> {
  readonly #byCollection = new Map<string, TypeDefinition>();
  readonly #gone = new Map<string, string>();

  constructor() {
    super(); // entries would be set before there are fields
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

  /** The name of the type that a collection belongs to, or belonged to. */
  nameOf(collection: string): string {
    return this.ofCollection(collection)?.name ?? this.#gone.get(collection) ?? collection.slice('t.'.length);
  }

  /** The collection of a type that was renamed may be known by the new name already. */
  #forget(type: TypeDefinition | undefined): void {
    if (!type || this.ofCollection(type.collection)?.name !== type.name) return;
    this.#byCollection.delete(type.collection);
    this.#gone.set(type.collection, type.name);
    if (this.#gone.size > MOST_GONE) this.#gone.delete(this.#gone.keys().next().value as string);
  }
}
