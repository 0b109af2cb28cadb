// Publishing on topics (integrations.md 9.3) and request events (language.md 5.12).

import { langError } from '../../stdlib/errors.ts';
import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../actor.ts';
import { fault } from '../faults.ts';
import { checkTopic } from './definitions/topics-kind.ts';
import { raise } from './events.ts';
import { awaitsPositions, followPosition } from './tracking.ts';
import type { Namespace } from './types.ts';

/** Raises the topic's event, and moves the tracks that await positions there. Where no rule listens no event is stored. */
export async function publishTopic(space: Namespace, topic: string, value: Value, actor: Actor): Promise<void> {
  checkTopic(topic);
  if (await awaitsPositions(space, topic)) await followPosition(space, topic, value, actor, plainly(space));
  else await plainly(space)(topic, value, actor);
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
 * Raises an inbound event of a service (resources-and-api.md 4.5).
 * @throws cascade.resource.not.found, cascade.service.event.direction
 */
export async function publishServiceEvent(space: Namespace, service: string, event: string, value: Value, actor: Actor): Promise<void> {
  const found = space.definitions.find('services', service);
  const events = found && getOwn(found.object, 'eventTypes');
  const declared = isObject(events ?? null) && Object.hasOwn(events as object, event) ? getOwn(events as ObjectValue, event) : null;
  if (!isObject(declared)) throw fault('cascade.resource.not.found', `/services/${service}/${event}`);
  if (getOwn(declared, 'direction') !== 'INBOUND') throw langError('cascade.service.event.direction', service, event);
  const raised = raise(space, `/services/${service}/${event}`, value, actor);
  if (raised.length > 0) await actor.commit({ writes: [], events: raised }, { ok: 'null' });
}
