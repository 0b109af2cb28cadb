// Events of a change, and what they set going. The trigger index decides before the commit which rules will run: they are
// stored with the event, so that a crash after the commit forgets none (integrations.md 12).

import { randomUUID } from 'node:crypto';
import { DateTime, decodeInner, encodeInner, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../actor.ts';
import type { RunReference, StoredEvent } from '../commit/index.ts';
import { langError } from '../../stdlib/errors.ts';
import { type Namespace, programIn } from './types.ts';

/** Rule runs from one root event on (language.md G5). */
export const LONGEST_CHAIN = 200;

/**
 * The event for a path and value, or nothing where neither a rule nor a subscriber takes it. One that no rule takes is not stored.
 * @param valueJson the value's inner JSON, where the caller has it already
 */
export function raise(space: Namespace, path: string, value: Value, actor: Actor, valueJson?: string): StoredEvent[] {
  const heard = space.subscribers.has(path);
  if (!heard && !space.when.has(path)) return [];
  const uuid = randomUUID();
  const at = new Date(space.clock.now());
  const matched = space.when.match(path, value, () => eventObject(uuid, path, value, at, space.name));
  if (!heard && matched.length === 0) return [];
  const runs = matched.map((rule): RunReference => {
    const { executable, binds } = programIn(rule);
    return { rule: executable.name, program: executable.program.id, binds };
  });
  const chain = { root: actor.chain.root ?? uuid, depth: actor.chain.depth };
  return [{ uuid, path, value: valueJson ?? encodeInner(value), at, by: actor.identity.username, chain, runs }];
}

/** EXECUTE ASYNC (language.md X2): a run of its own, stored as an event that only this procedure takes. */
export function asyncCall(procedure: string, args: Value, named: Value, actor: Actor): StoredEvent {
  const uuid = randomUUID();
  const chain = { root: actor.chain.root ?? uuid, depth: actor.chain.depth };
  const runs: RunReference[] = [{ rule: procedure, program: ASYNC, binds: 'value' }];
  return {
    uuid,
    path: `/procedures/${procedure}`,
    value: encodeInner({ args, named }),
    at: new Date(actor.clock.now()),
    by: actor.identity.username,
    chain,
    runs,
  };
}
/** Stands for a program where the procedure is looked up when the run starts. */
export const ASYNC = 'async';

function eventObject(uuid: string, path: string, value: Value, at: Date, namespace: string): ObjectValue {
  return {
    uuid,
    path,
    value,
    newValue: value,
    createdAt: new DateTime(at.getTime()),
    topic: null,
    redelivered: false,
    deliveryCount: 1,
    properties: {},
    ars_namespace: namespace,
  };
}

/** The error of a chain that is too long; its events start nothing. */
export const chainTooLong = (event: StoredEvent) => langError('cascade.rule.chain.depth', event.chain.root, LONGEST_CHAIN);

export const valueOf = (event: StoredEvent): Value => decodeInner(event.value);
