// The audits of what is done to users, tokens and namespaces (resources-and-api.md 8.3), stored in the transactions that do it: these are the
// installation's, not the namespace's committer's, so an audit is there with its change or neither is.

import type { ClientSession, Db, Document } from 'mongodb';
import type { StoredEvent, UnitOfWork } from '../../runtime/transactions/index.ts';
import { AUDITS } from '../../resources/access/index.ts';

/**
 * Stores the audit of a change in the change's transaction.
 * @param key of what is changed: the natural key; of a token its `_id`, as its name is unique for its creator only
 */
export type Audited = (session: ClientSession, key: string) => Promise<void>;

export class AuditAlong {
  readonly #db: Db;
  readonly #made: (key: string) => Pick<UnitOfWork, 'writes' | 'events'> | null;
  #events: readonly StoredEvent[] = [];

  /** @param made the audit by the key of what is changed; null: it is not audited */
  constructor(db: Db, made: (key: string) => Pick<UnitOfWork, 'writes' | 'events'> | null) {
    this.#db = db;
    this.#made = made;
  }

  /** Its events, to be raised once it is stored. */
  get events(): readonly StoredEvent[] {
    return this.#events;
  }

  /** A transaction that is tried again stores it again: what was stored last is what there is. */
  readonly store: Audited = async (session, key) => {
    const unit = this.#made(key);
    if (!unit) return;
    const documents = unit.writes.flatMap((write): Document[] => (write.op === 'insert' ? [write.document] : []));
    await this.#db.collection(AUDITS).insertMany(documents, { session });
    this.#events = unit.events;
  };
}
