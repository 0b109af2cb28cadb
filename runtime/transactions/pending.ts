// A change that is enqueued and not stored yet. A later change of the same instance may follow it (runs/contention.ts): it is stored with
// this one or after it, and not at all if this one fails.

import type { Document, ObjectId } from 'mongodb';

export class Pending {
  readonly collection: string;
  readonly id: ObjectId;
  /** The instance as the change leaves it. */
  readonly document: Document;
  readonly version: bigint;
  #outcome: boolean | null = null;
  #waiting: ((isStored: boolean) => void)[] = [];

  constructor(collection: string, id: ObjectId, document: Document, version: bigint) {
    this.collection = collection;
    this.id = id;
    this.document = document;
    this.version = version;
  }

  /** Key of the instance, as `keyOf` gives it. */
  get key(): string {
    return `${this.collection}/${this.id.toHexString()}`;
  }

  /** Whether it is stored; null: not known yet. */
  get isStored(): boolean | null {
    return this.#outcome;
  }

  /** Called once, by the committer. */
  settle(isStored: boolean): void {
    if (this.#outcome !== null) return;
    this.#outcome = isStored;
    for (const resolve of this.#waiting.splice(0)) resolve(isStored);
  }

  /** Resolves with whether it is stored. */
  settled(): Promise<boolean> {
    if (this.#outcome !== null) return Promise.resolve(this.#outcome);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
