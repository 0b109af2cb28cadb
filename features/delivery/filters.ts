// How much the filters of subscriptions may hold: they are kept, and compared with each event of their path, for as long as the subscription
// lasts; those of persistent subscriptions again by each process that opens the namespace. Weights count as in model/types/pieces.ts.
import { apiError } from '../../model/errors/index.ts';
import { weightOf } from '../../model/types/index.ts';
import type { ObjectValue } from '../../stdlib/values/index.ts';

const MOST = 1_000;
/** Of all persistent subscriptions of a user, and of a namespace. */
const MOST_OF_USER = 20_000;
const MOST_OF_NAMESPACE = 200_000;

/** The weight; counting ends where it is too much. */
const weight = (filter: ObjectValue | null): number => (filter ? weightOf(filter, MOST + 1) : 0);

export const isTooLong = (filter: ObjectValue | null): boolean => weight(filter) > MOST;

/** The filters of the persistent subscriptions of a namespace. */
export class PersistentFilters {
  readonly #ofUser = new Map<string, number>();
  #total = 0;

  hasRoom(username: string, filter: ObjectValue | null): boolean {
    return this.#isRoom(this.#held(username), MOST_OF_USER, filter) && this.#isRoom(this.#total, MOST_OF_NAMESPACE, filter);
  }

  /** @throws cascade.quota.exceeded */
  requireRoom(username: string, filter: ObjectValue | null): void {
    if (!this.#isRoom(this.#held(username), MOST_OF_USER, filter))
      throw apiError('cascade.quota.exceeded', 'persistentFiltersOfUser', MOST_OF_USER);
    if (!this.#isRoom(this.#total, MOST_OF_NAMESPACE, filter))
      throw apiError('cascade.quota.exceeded', 'persistentFilters', MOST_OF_NAMESPACE);
  }

  add(username: string, filter: ObjectValue | null): void {
    this.#change(username, weight(filter));
  }

  remove(username: string, filter: ObjectValue | null): void {
    this.#change(username, -weight(filter));
  }

  #held(username: string): number {
    return this.#ofUser.get(username) ?? 0;
  }

  #isRoom(held: number, most: number, filter: ObjectValue | null): boolean {
    return filter === null || held + weight(filter) <= most;
  }

  #change(username: string, by: number): void {
    this.#total += by;
    const held = this.#held(username) + by;
    if (held > 0) this.#ofUser.set(username, held);
    else this.#ofUser.delete(username);
  }
}
