// Publishes on topics (integrations.md 9.3), and raises request events (language.md 5.12).

import { getOwn, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { checkTopic } from './topics-kind.ts';
import { raise } from '../../runtime/events/index.ts';
import { checkMessage } from './topic-messages.ts';
import type { Namespace, PublicationFollower, Publish } from '../../resources/catalog/index.ts';

/** Raises the topic's event, with the writes of a feature that follows the topic. Without a listener no event is stored. */
export async function publishTopic(space: Namespace, topic: string, value: Value, actor: Actor): Promise<void> {
  checkTopic(topic);
  const registered = Array.isArray(value) ? space.catalog.definitions.get('topics', topic) : undefined;
  if (registered && Object.hasOwn(registered, 'autoUnwind') && getOwn(registered, 'autoUnwind') === true)
    return publishEach(space, topic, value as Value[], actor);
  checkMessage(space, topic, value);
  const follower = await followerOf(space, topic);
  if (follower) await follower.follow(space, topic, [value], actor, plainly(space));
  else await plainly(space)(topic, value, actor);
}

/** Raises one event per element, in order and in one unit (integrations.md 9.2). */
async function publishEach(space: Namespace, topic: string, messages: readonly Value[], actor: Actor): Promise<void> {
  for (const message of messages) checkMessage(space, topic, message);
  const follower = await followerOf(space, topic);
  if (follower) return void (await follower.follow(space, topic, messages, actor, plainly(space)));
  const path = `/topics${topic}/publish`;
  await actor.commit({ writes: [], events: messages.flatMap((message) => raise(space, path, message, actor)) }, { ok: 'null' });
}

/** The first feature that follows the topic, if any. */
async function followerOf(space: Namespace, topic: string): Promise<PublicationFollower | undefined> {
  for (const follower of space.catalog.features.followers) if (await follower.concerns(space, topic)) return follower;
  return undefined;
}

const plainly =
  (space: Namespace): Publish =>
  async (topic, value, actor) => {
    const events = raise(space, `/topics${topic}/publish`, value, actor);
    if (events.length > 0) await actor.commit({ writes: [], events }, { ok: 'null' });
  };

/** Raises a request event on a type; only the event is stored. */
export async function publishRequest(space: Namespace, type: string, value: Value, actor: Actor): Promise<void> {
  const events = raise(space, `/types/${type}/request`, value, actor);
  if (events.length > 0) await actor.commit({ writes: [], events }, { ok: 'null' });
}
