// Raises the events of a change. The trigger index decides before the commit which rules will run: they are stored with the event, so that
// a crash after the commit loses none (integrations.md 12).

import { randomUUID } from 'node:crypto';
import { encodeInner, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { type Initiator as Actor, timed } from '../context/index.ts';
import type { Identity } from '../../identity/index.ts';
import type { RunReference, StoredEvent } from '../transactions/index.ts';
import { langError } from '../../stdlib/errors.ts';
import { eventObject } from './event-object.ts';
import { keepValue } from './event-values.ts';
import { keepStoredForm, withStoredMembers } from './stored-forms.ts';
import type { EventContext } from './context.ts';
import { referenceOf } from './references.ts';

/** Bound of rule runs in one chain (language.md G5). */
export const LONGEST_CHAIN = 200;

/** The path of a change of an instance: system resources have their own name in it (resources-and-api.md 8.1). */
export const instanceEvent = (
  { name, type }: { readonly name: string; readonly type: { readonly name: string } },
  operation: 'insert' | 'update' | 'delete',
): string => `/types/${name === type.name ? name : `system.${name}`}/${operation}`;

export interface Raising {
  /** Gives the value's inner JSON where the caller needs it, too; called only when somebody receives the event. */
  readonly valueJson?: () => string;
  /** Members of the instance in the value that may be stored in another form, in that one: rights are decided by it. */
  readonly stored?: ObjectValue | null;
  /** Full names of rules that must not run for it. */
  readonly except?: ReadonlySet<string>;
  /** Of messages from outside. */
  readonly transport?: NonNullable<StoredEvent['transport']>;
}

/**
 * The event for a path and value, and those of services that implement it; empty where neither a rule nor a subscriber receives it. An
 * event without rules is not stored.
 */
export function raise(space: EventContext, path: string, value: Value, actor: Actor, raising: Raising = {}): StoredEvent[] {
  if (raising.stored) keepStoredForm(value, raising.stored);
  const own = raiseOn(space, path, value, actor, raising);
  const implemented = space.events.implementedEvents.of(path, value, actor.identity.username);
  return implemented.length === 0 ? own : [...own, ...implemented.flatMap((event) => raiseOn(space, event, value, actor, {}))];
}

function raiseOn(space: EventContext, path: string, value: Value, actor: Actor, raising: Raising): StoredEvent[] {
  const { valueJson, except, transport, stored } = raising;
  const isSubscribed = space.events.subscribers.has(path) || space.events.deliveries.hasSubscribers(path);
  const awaited = space.events.correlations.has(path);
  if (!isSubscribed && !awaited && !space.events.when.has(path)) return [];
  const uuid = actor.eventUuids?.() ?? randomUUID();
  const at = new Date(space.clock.now());
  const event = (): ObjectValue => eventObject({ uuid, path, atMs: at.getTime(), ...(transport && { transport }) }, value, space.name);
  const by = actor.identity.username;
  const found = space.events.when.match(path, value, event, by);
  const matched = except ? found.filter(({ rule }) => !except.has(rule.name)) : found;
  const waiting = awaited ? space.events.correlations.match(path, value, event, by) : [];
  if (!isSubscribed && matched.length === 0 && waiting.length === 0) return [];
  const runs = matched.map((chosen) => referenceOf(chosen, path));
  const chain = chainOf(uuid, actor);
  const json = valueJson ? valueJson() : encodeInner(value);
  const all = waiting.length > 0 ? [...runs, ...waiting] : runs;
  const raised: StoredEvent = { uuid, path, value: json, at, by, chain, runs: all };
  const whole = timed(space.events.deliveries.withDeliveries(transport ? { ...raised, transport } : raised), actor.since);
  if (runs.length > 0) keepValue(whole, value);
  return [stored ? withStoredMembers(whole, stored) : whole];
}

/**
 * EXECUTE ASYNC (language.md X2): an event that only this procedure receives, so that the call is a run of its own.
 * @param by the statement: the service of its text, the key of the partition, where it names one, and whether it calls a built-in; absent
 * for other calls
 */
export function asyncCall(
  procedure: string,
  args: Value,
  named: Value,
  actor: Actor,
  by?: { service: Value; executed: Value[]; builtin?: true },
): StoredEvent {
  const uuid = randomUUID();
  const chain = chainOf(uuid, actor);
  return {
    uuid,
    path: `/procedures/${procedure}`,
    value: encodeInner({ args, named, ...by, ...underIn(actor.identity) }),
    at: new Date(actor.clock.now()),
    by: actor.identity.username,
    chain,
    runs: [asyncRun(procedure)],
  };
}

/** Profiles that the run is confined to, where they are not its user's, and the token that the call came with. */
const underIn = ({ profiles, restricted, lent, ofToken }: Identity): ObjectValue => ({
  ...((restricted || lent) && { profiles }),
  ...(restricted && { restricted }),
  ...(lent && { lent }),
  ...(ofToken !== undefined && { ofToken }),
});

export const asyncRun = (procedure: string): RunReference => ({ rule: procedure, program: ASYNC, binds: 'value' });

/** The chain of a new event: it continues the actor's, or begins with the event. */
function chainOf(uuid: string, { chain }: Actor): StoredEvent['chain'] {
  const { root, depth, via, hop, ends } = chain;
  if (hop !== undefined || ends !== undefined) return { ...chain, root: root ?? uuid };
  return via ? { root: root ?? uuid, depth, via } : { root: root ?? uuid, depth };
}

/** Marks a run whose procedure is looked up when it starts. */
export const ASYNC = 'async';

/** The error of a chain that is too long; its events start no rules. */
export const chainTooLong = (event: StoredEvent) => langError('cascade.rule.chain.depth', event.chain.root, LONGEST_CHAIN);
