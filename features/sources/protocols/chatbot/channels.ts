// Channels in which a bot may start a conversation (integrations.md 6.3): those that it was added to, stored per source.
import { DateTime, isObject, type ObjectValue, type Value } from '../../../../stdlib/values/index.ts';
import { own } from '../fields.ts';
import type { SourceContext } from '../protocol.ts';

const PREFIX = 'channel/';

/** A member, by its path; `null` members count as absent. */
const inner = (object: ObjectValue, ...names: string[]): Value =>
  names.reduce<Value>((at, name) => (isObject(at) ? own(at, name) : null), object);

const keyOf = (service: string, channel: string): string =>
  `${PREFIX}${encodeURIComponent(service.toWellFormed())}/${encodeURIComponent(channel.toWellFormed())}`;

/** Handles a `conversationUpdate`: added members store the channel, the removal of the bot deletes it. */
export async function followUpdate({ store, now }: SourceContext, message: ObjectValue): Promise<void> {
  if (own(message, 'type') !== 'conversationUpdate') return;
  const [service, channel] = [own(message, 'channelId'), inner(message, 'conversation', 'name')];
  if (typeof service !== 'string' || typeof channel !== 'string') return;
  const members = (name: string): Value[] => {
    const found = own(message, name);
    return Array.isArray(found) ? found : [];
  };
  const bot = inner(message, 'recipient', 'id');
  if (members('membersRemoved').some((member) => isObject(member) && own(member, 'id') === bot && bot !== null))
    await store.remove(keyOf(service, channel));
  else if (members('membersAdded').length > 0)
    await store.put(keyOf(service, channel), {
      service,
      channel,
      serviceUrl: own(message, 'serviceUrl'),
      conversation: inner(message, 'conversation', 'id'),
      bot: own(message, 'recipient'),
      updatedAt: new DateTime(now()),
    });
}

export const channelOf = ({ store }: SourceContext, service: string, channel: string): Promise<ObjectValue | null> =>
  store.get(keyOf(service, channel));

/** The channels as `GET /sources/<name>/channels` lists them. */
export async function listChannels({ store }: SourceContext): Promise<Value> {
  return (await store.all(PREFIX)).map(([, one]) => ({
    service: own(one, 'service'),
    channel: own(one, 'channel'),
    updatedAt: own(one, 'updatedAt'),
  }));
}
