// Messages as the service tells of them: as rows of its list, and as events of the inbox.
import { isObject, type JsonObject, type Message, own, textOf } from '../form/types.ts';

const payloadOf = (source: JsonObject): JsonObject => {
  const payload = own(source, 'payload');
  return isObject(payload) ? payload : {};
};

export const messageOfRow = (row: JsonObject): Message => ({
  messageId: textOf(row, '_id'),
  title: textOf(row, 'title'),
  category: textOf(row, 'category'),
  payload: payloadOf(row),
  createdAt: textOf(row, 'sentAt'),
  expiresAt: textOf(row, 'expiresAt') || null,
});

export const messageOfEvent = (value: JsonObject): Message => ({
  messageId: textOf(value, 'messageId'),
  title: textOf(value, 'title'),
  category: textOf(value, 'category'),
  payload: payloadOf(value),
  createdAt: textOf(value, 'createdAt'),
  expiresAt: textOf(value, 'expiresAt') || null,
});
