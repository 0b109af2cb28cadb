// Abandons runs that cannot start: those of chains that are too long, and of rules whose text is gone. Each is recorded, and its event
// becomes a dead letter, so that no run stays open forever (language.md G5, integrations.md 12.5).

import { langError } from '../../stdlib/errors.ts';
import { type Actor, serviceActor } from '../../runtime/context/index.ts';
import { attemptOf, runIdOf, type StoredEvent } from '../../runtime/transactions/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { describe, type RunError, toWireError } from '../../runtime/runs/index.ts';
import { deadLetter, type DeadReason, deliveriesOf } from '../delivery/index.ts';
import { LONGEST_CHAIN } from '../../runtime/events/index.ts';
import { snapshot } from '../diagnostics/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';

/** Abandons the run if its chain is too long. @returns false when the run may start */
export function abandonTooDeep(space: Namespace, event: StoredEvent, rule: string): boolean {
  if (event.chain.depth < LONGEST_CHAIN) return false;
  const error = langError('cascade.rule.chain.depth', event.chain.root, LONGEST_CHAIN);
  const round = cycleIn([...(event.chain.via ?? []), rule]);
  const message = round === null ? error.message : `${error.message} The rules go round: ${round.join(' → ')}.`;
  abandon(space, event, rule, 'chain', { ...toWireError(error), message });
  return true;
}

/** Abandons the run of a rule whose text is no longer stored. */
export function abandonLost(space: Namespace, event: StoredEvent, rule: string): void {
  abandon(space, event, rule, 'lost', toWireError(apiError('cascade.resource.not.found', `/rules/${rule}`)));
}

function abandon(space: Namespace, event: StoredEvent, rule: string, reason: DeadReason, wire: ReturnType<typeof toWireError>): void {
  const { code, message, params, status } = wire;
  const error: RunError = { code, message, params, status, line: null, column: null, stack: [] };
  const asked = `/procedures/${rule}`;
  const resource = event.path === asked ? asked : `/rules/${rule}`; // EXECUTE ASYNC raises an event of its procedure
  // A rule that hears of the end may begin the same chain again. It does so once: an end that follows another one is recorded only.
  const ends = (event.chain.ends ?? 0) + Number(reason === 'chain');
  const chain = { root: null, depth: 0, ...(ends > 0 && { ends }) };
  const actor: Actor = { ...serviceActor(space), chain, commit: () => Promise.reject(new TypeError('what does not run changes nothing')) };
  const recorded = snapshot(space, resource, event.uuid, error, actor);
  const dead = deadLetter(space, { event, target: resource, reason, error, deliveries: attemptOf(event) }, actor);
  space.log.error({ rule, namespace: space.name, event: event.uuid }, describe(error));
  const unit = { events: ends > 1 ? [] : [...recorded.events, ...dead.events], done: [runIdOf(event, rule)] };
  deliveriesOf(space)
    .settle(event, resource, (settled) =>
      space.transactions.submit({ ...unit, writes: [...recorded.writes, ...dead.writes, ...settled] }, true),
    )
    .catch((failed: unknown) => space.log.error({ err: failed }, 'the end of an abandoned run could not be stored'));
}

/** The shortest cycle of rules at the end of a chain, with its first rule at both ends; null when there is none. */
export function cycleIn(via: readonly string[]): string[] | null {
  for (let length = 1; length * 2 <= via.length; length++) {
    const end = via.length;
    const isRound = via.slice(end - length).every((rule, index) => rule === via[end - 2 * length + index]);
    if (isRound) return [...via.slice(end - length), via[end - length] as string];
  }
  return null;
}
