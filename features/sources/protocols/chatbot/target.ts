// Where a message that is sent goes (integrations.md 6.3). Pure.
import { isObject, type ObjectValue } from '../../../../stdlib/values/index.ts';
import { apiError } from '../../../../model/errors/index.ts';
import { own } from '../fields.ts';

type Target = { readonly conversation: string } | { readonly conversation?: undefined; readonly service: string; readonly channel: string };

/** @throws cascade.chatbot.message.invalid */
export function targetOf(message: ObjectValue): Target {
  if (typeof own(message, 'text') !== 'string') throw apiError('cascade.chatbot.message.invalid', 'it has no text');
  const conversation = own(message, 'conversation');
  const id = isObject(conversation) ? own(conversation, 'id') : null;
  if (own(message, 'serviceUrl') !== null && typeof id === 'string' && id !== '') return { conversation: id };
  const [service, channel] = [own(message, 'service'), own(message, 'channel')];
  if (conversation !== null || typeof service !== 'string' || typeof channel !== 'string')
    throw apiError('cascade.chatbot.message.invalid', 'it is neither a reply nor a message to a channel');
  return { service, channel };
}
