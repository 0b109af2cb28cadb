// A change that is enqueued and not stored yet, for those who go on from what it leaves (runs/contention.ts): what they change is stored with it or
// after it, and not at all if it isn't.

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

  /** Names the instance, as `keyOf` does. */
  get key(): string {
    return `${this.collection}/${this.id.toHexString()}`;
  }

  /** Whether it is stored; null: it is not known yet. */
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
