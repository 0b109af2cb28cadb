// Which of the messages of one id a request is about: `sendPayload` may have replaced the one that a person has seen.
import { DateTime, isObject, type ObjectValue, parseDateTime, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { own } from '../../resources/operations/index.ts';
import { PAYLOAD_MESSAGES } from './payload-message-type.ts';
import { isSentAt } from './payload-messages.ts';

/**
 * When the message was sent that the body of a request is about; null: whichever it is now.
 * @throws cascade.request.body.invalid, cascade.resource.property.invalid
 */
export function sentAtIn(body: Value): DateTime | null {
  if (body === null) return null;
  if (!isObject(body)) throw apiError('cascade.request.body.invalid', 'an object is expected', 0);
  const value = own(body, 'sentAt');
  if (value === null || value instanceof DateTime) return value;
  const parsed = typeof value === 'string' ? parseDateTime(value) : null;
  if (!parsed) throw apiError('cascade.resource.property.invalid', PAYLOAD_MESSAGES.name, 'sentAt', 'no DateTime');
  return parsed;
}

/** @throws cascade.notification.not.pending: another message has taken its place */
export function requireSame(id: string, message: ObjectValue, sentAt: DateTime | null): void {
  if (sentAt !== null && !isSentAt(message, sentAt)) throw apiError('cascade.notification.not.pending', id);
}
