// The messages of chat rooms that a client has not seen, for many rooms at once.
import type { Document } from 'mongodb';
import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import { read } from '../../resources/instances/index.ts';
import { idOf } from '../../resources/representation/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { CHAT_MESSAGES } from './service-types.ts';

/** Limits the messages of each room, and those that one query reads. */
const MOST = 1_000;
/** Rooms whose messages one query counts. */
const ROOMS_AT_ONCE = 100;

/** A room, and when the client has seen it last, in milliseconds; null: never. */
export interface Seen {
  readonly room: ObjectValue;
  readonly sinceMs: number | null;
}

interface Counted {
  readonly _id: string;
  readonly count: number;
  /** Messages behind this one are the next call's: the room that was read does not count them yet. */
  readonly last: number;
}

/** The rooms with their messages since the client has seen them, at most a thousand of each. */
export async function withMessages(space: Namespace, seen: readonly Seen[]): Promise<ObjectValue[]> {
  const shown: ObjectValue[] = [];
  for (let from = 0; from < seen.length; from += ROOMS_AT_ONCE)
    shown.push(...(await shownTogether(space, seen.slice(from, from + ROOMS_AT_ONCE))));
  return shown;
}

async function shownTogether(space: Namespace, seen: readonly Seen[]): Promise<ObjectValue[]> {
  const stages = [{ $match: { $or: seen.map(unseen) } }, { $group: { _id: '$chatId', count: { $sum: 1 }, last: { $max: '$sequence' } } }];
  const counted = new Map<string, Counted>();
  for await (const one of space.storage.db.collection(CHAT_MESSAGES.collection).aggregate<Counted>(stages)) counted.set(one._id, one);
  const messages = new Map<string, ObjectValue[]>();
  let [filters, size]: [Document[], number] = [[], 0];
  const readThem = async (): Promise<void> => {
    const found = filters.length > 0 ? await read(space, CHAT_MESSAGES, { $or: filters }, size) : [];
    for (const message of found) {
      const chatId = String(getOwn(message, 'chatId'));
      const others = messages.get(chatId) ?? [];
      others.push(message);
      messages.set(chatId, others);
    }
    [filters, size] = [[], 0];
  };
  for (const one of seen) {
    const { count, last } = counted.get(idOf(one.room)) ?? { count: 0, last: 0 };
    if (count === 0 || count > MOST) continue;
    if (size + count > MOST) await readThem();
    filters.push({ ...unseen(one), sequence: { $lte: last } });
    size += count;
  }
  await readThem();
  const shown: ObjectValue[] = [];
  for (const one of seen) {
    const isLong = (counted.get(idOf(one.room))?.count ?? 0) > MOST;
    shown.push(isLong ? await withFirst(space, one) : { ...one.room, messages: inOrder(messages.get(idOf(one.room)) ?? []) });
  }
  return shown;
}

/**
 * Where there are too many messages the room is as old as the last of those that are shown, so that the client, which gives that time back,
 * gets the next ones: every message is later than those before it.
 */
async function withFirst(space: Namespace, seen: Seen): Promise<ObjectValue> {
  const options = { sort: { sequence: 1 }, skip: MOST, projection: { sequence: 1 } } as const;
  const next = await space.storage.db.collection(CHAT_MESSAGES.collection).findOne(unseen(seen), options);
  const messages = inOrder(
    await read(space, CHAT_MESSAGES, { ...unseen(seen), ...(next && { sequence: { $lt: next['sequence'] } }) }, MOST),
  );
  const last = next && messages.at(-1);
  return { ...seen.room, ...(last && { modifiedAt: getOwn(last, 'timestamp') }), messages };
}

const unseen = ({ room, sinceMs }: Seen): Document => ({
  chatId: idOf(room),
  ...(sinceMs !== null && { timestamp: { $gt: new Date(sinceMs) } }),
});

const inOrder = (messages: ObjectValue[]): ObjectValue[] =>
  messages.sort((a, b) => Number(getOwn(a, 'sequence')) - Number(getOwn(b, 'sequence')));
