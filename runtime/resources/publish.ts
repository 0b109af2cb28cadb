// Publishing on topics (integrations.md 9.3) and request events (language.md 5.12).

import { langError } from '../../stdlib/errors.ts';
import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../actor.ts';
import { fault } from '../faults.ts';
import { checkTopic } from './definitions/topics-kind.ts';
import { asyncCall, raise } from './events.ts';
import { checkMessage } from './topic-messages.ts';
import { awaitsPositions, followPosition } from './tracking.ts';
import type { Namespace } from './types.ts';

/** Raises the topic's event, and moves the tracks that await positions there. Where no rule listens no event is stored. */
export async function publishTopic(space: Namespace, topic: string, value: Value, actor: Actor): Promise<void> {
  checkTopic(topic);
  const registered = Array.isArray(value) ? space.definitions.get('topics', topic) : undefined;
  if (registered && Object.hasOwn(registered, 'autoUnwind') && getOwn(registered, 'autoUnwind') === true)
    return publishEach(space, topic, value as Value[], actor);
  checkMessage(space, topic, value);
  if (await awaitsPositions(space, topic)) await followPosition(space, topic, value, actor, plainly(space));
  else await plainly(space)(topic, value, actor);
}

/** One event for each element, in their order, and all in one unit (integrations.md 9.2). */
async function publishEach(space: Namespace, topic: string, messages: readonly Value[], actor: Actor): Promise<void> {
  for (const message of messages) checkMessage(space, topic, message);
  if (await awaitsPositions(space, topic)) {
    const apart: Actor = { ...actor, commit: (unit) => space.committer.submit(unit) };
    for (const message of messages) await followPosition(space, topic, message, apart, plainly(space));
    return actor.commit({ writes: [], events: [] }, { ok: 'null' });
  }
  const path = `/topics${topic}/publish`;
  await actor.commit({ writes: [], events: messages.flatMap((message) => raise(space, path, message, actor)) }, { ok: 'null' });
}

const plainly =
  (space: Namespace) =>
  async (topic: string, value: Value, actor: Actor): Promise<void> => {
    const events = raise(space, `/topics${topic}/publish`, value, actor);
    if (events.length > 0) await actor.commit({ writes: [], events }, { ok: 'null' });
  };

/** Raises a request event on a type; nothing but the event is stored. */
export async function publishRequest(space: Namespace, type: string, value: Value, actor: Actor): Promise<void> {
  const events = raise(space, `/types/${type}/request`, value, actor);
  if (events.length > 0) await actor.commit({ writes: [], events }, { ok: 'null' });
}

/**
 * Raises an event of a service (resources-and-api.md 4.5): an inbound one for everybody, an outbound one for the service itself. What
 * implements an inbound one is called besides.
 * @param from the service whose code publishes; null for others
 * @throws cascade.resource.not.found, cascade.service.event.direction
 */
export async function publishServiceEvent(
  space: Namespace,
  service: string,
  event: string,
  value: Value,
  actor: Actor,
  from: string | null = null,
): Promise<void> {
  const found = space.definitions.find('services', service);
  const types = found && getOwn(found.object, 'eventTypes');
  const declared = isObject(types ?? null) && Object.hasOwn(types as object, event) ? getOwn(types as ObjectValue, event) : null;
  if (!isObject(declared)) throw fault('cascade.resource.not.found', `/services/${service}/${event}`);
  const inbound = getOwn(declared, 'direction') === 'INBOUND';
  if (!inbound && from !== service) throw langError('cascade.service.event.direction', service, event);
  const raised = [...raise(space, `/services/${service}/${event}`, value, actor)];
  if (inbound) {
    raised.push(...raise(space, `/topics/${service}/${event}/handler/inbound/publish`, value, actor));
    const implementing = /^\/procedures\/(.+)$/.exec(String(getOwn(declared, 'implementingResource') ?? ''))?.[1];
    if (implementing !== undefined) raised.push(asyncCall(implementing, [value], null, actor));
  }
  if (raised.length > 0) await actor.commit({ writes: [], events: raised }, { ok: 'null' });
}
