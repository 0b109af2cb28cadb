// Audits of users, tokens and namespaces (resources-and-api.md 8.3), stored in the transactions that make the changes: these belong to the
// installation instead of a namespace's committer. A change and its audit are stored together or not at all.

import type { ClientSession, Db, Document } from 'mongodb';
import type { StoredEvent, UnitOfWork } from '../../runtime/transactions/index.ts';
import { AUDITS } from '../../resources/access/index.ts';

/**
 * Stores the audit of a change in the change's transaction.
 * @param key identifies the changed object: its natural key, or the `_id` of a token, whose name is unique per creator only
 */
export type Audited = (session: ClientSession, key: string) => Promise<void>;

export class AuditAlong {
  readonly #db: Db;
  readonly #made: (key: string) => Pick<UnitOfWork, 'writes' | 'events'> | null;
  #events: readonly StoredEvent[] = [];

  /** @param made creates the audit for the key of an object; null: the change is not audited */
  constructor(db: Db, made: (key: string) => Pick<UnitOfWork, 'writes' | 'events'> | null) {
    this.#db = db;
    this.#made = made;
  }

  /** Events of the stored audit, to be raised after the commit. */
  get events(): readonly StoredEvent[] {
    return this.#events;
  }

  /** A retried transaction calls this again: the last call counts. */
  readonly store: Audited = async (session, key) => {
    const unit = this.#made(key);
    if (!unit) return;
    const documents = unit.writes.flatMap((write): Document[] => (write.op === 'insert' ? [write.document] : []));
    await this.#db.collection(AUDITS).insertMany(documents, { session });
    this.#events = unit.events;
  };
}
