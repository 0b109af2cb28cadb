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

const [EXPIRY_MARGIN_MS, AFTER_EXPIRY_MS, LONGEST_WATCH_MS] = [500, 30_000, 60 * 60 * 1_000];

/** How long until it is worth asking whether the next of them has expired; null: none of them will. */
export function untilExpiry(messages: readonly Message[], nowMs: number): number | null {
  const times = messages.flatMap(({ expiresAt }) => (expiresAt === null ? [] : [Date.parse(expiresAt)]));
  const next = Math.min(...times.filter((time) => !Number.isNaN(time)));
  if (next === Number.POSITIVE_INFINITY) return null;
  const waitMs = next - nowMs;
  return waitMs < 0 ? AFTER_EXPIRY_MS : Math.min(waitMs, LONGEST_WATCH_MS) + EXPIRY_MARGIN_MS;
}
