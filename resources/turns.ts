// Changes of an instance whose type has BEFORE rules take turns before these rules run, so that nobody else's change makes them run again, or in
// vain: what they do besides would be done for a change that is made already, or never is (language.md O1).

import { randomUUID } from 'node:crypto';
import type { ObjectValue } from '../stdlib/values/index.ts';
import type { Actor } from '../runtime/context/index.ts';
import { idOf } from './representation/index.ts';
import type { InstanceResource, Namespace } from './catalog/index.ts';

/** The places of one statement in the queues of instances; disposed of, it leaves them. */
export class StatementTurns implements Disposable {
  readonly #contention: Namespace['execution']['contention'];
  /** null: it is in none. */
  #waiter: string | null = null;

  constructor({ execution }: Namespace) {
    this.#contention = execution.contention;
  }

  /**
   * Waits for the turn for the instance.
   * @returns whether others were ahead: what was read before is maybe not the newest
   */
  enter({ collection }: InstanceResource, stored: ObjectValue): Promise<boolean> {
    return this.#enter(`${collection}/${idOf(stored)}`);
  }

  /** Waits for the turn for the instance that a key names, or would. Those who have it may wait for an instance, and never the other way round. */
  enterForKey({ collection }: InstanceResource, key: string): Promise<boolean> {
    return this.#enter(`${collection}/key ${key}`);
  }

  async #enter(instance: string): Promise<boolean> {
    const contention = this.#contention;
    const waits = contention.isContended(instance);
    const waiter = (this.#waiter ??= randomUUID());
    await contention.enter(instance, waiter);
    await contention.pendingFor(instance, waiter)?.settled();
    return waits;
  }

  /** Waits for all of them. @param instances in the order of their ids: statements that wait in one order never wait for each other */
  async enterAll(resource: InstanceResource, instances: readonly ObjectValue[]): Promise<boolean> {
    let hasWaited = false;
    for (const one of instances) if (await this.enter(resource, one)) hasWaited = true;
    return hasWaited;
  }

  [Symbol.dispose](): void {
    if (this.#waiter !== null) this.#contention.leave(this.#waiter);
  }
}

/**
 * Whether a change takes its turn: where BEFORE rules run for it, or for another change of the instance that it would meet. Not within the rules of
 * another change, while a lock is held or by a run that has a turn already: two of them could wait for each other.
 */
export function takesTurns(
  { events, execution }: Namespace,
  { type }: InstanceResource,
  { within, state }: Actor,
  kind: 'insert' | 'update' | 'delete',
): boolean {
  const hasRules = (operation: string): boolean => !type.rulesSuppressed && events.before.has(`/types/${type.name}/${operation}`);
  const meetsRules = kind === 'insert' ? hasRules('insert') : hasRules('update') || hasRules('delete');
  // What is deleted along with an instance may be of any type.
  if (within || !(meetsRules || (kind === 'delete' && events.before.hasSome('/delete')))) return false;
  return !state || !(execution.sharedState.isUnderLock(state) || execution.contention.isEngaged(state.run));
}
