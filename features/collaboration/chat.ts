// Chat rooms and messages (builtins.md 25), in ArsChat and ArsChatMessage. A change of a room is one unit with its message and event, and
// changes of one room run one after the other, so that messages are numbered without gaps.
import {
  DateTime,
  dateTimeOf,
  encodeInner,
  getOwn,
  isInteger,
  isObject,
  type ObjectValue,
  parseDateTime,
  type Value,
} from '../../stdlib/values/index.ts';
import { type Actor, checkpointing } from '../../runtime/context/index.ts';
import type { Answer } from '../../runtime/transactions/index.ts';
import { CascadeError, apiError } from '../../model/errors/index.ts';
import { isAdmin } from '../../resources/access/index.ts';
import { read, readAt, deleteOne, insertOne, changeOf, updateOne, atomically } from '../../resources/instances/index.ts';
import { publishTopic } from '../topics/index.ts';
import { inBatches } from './batches.ts';
import { type Seen, withMessages } from './chat-updates.ts';
import { CHAT_MESSAGES, CHATS } from './service-types.ts';
import { idOf } from '../../resources/representation/index.ts';
import type { Namespace, HostBuiltin, HostBuiltins } from '../../resources/catalog/index.ts';
import { outOfRange, timeAfter, userList } from '../../resources/operations/index.ts';

const MESSAGE_TYPES: ReadonlySet<Value> = new Set(['text', 'image', 'audio', 'video', 'document', 'location', 'system']);
/** Limits the rooms that updateChatrooms gives, and the messages that one unit deletes. */
const MOST = 1_000;

const createChatroom: HostBuiltin = async (space, [situationId = null, topic = null, users = null], actor) => {
  if (topic === '') throw outOfRange('topic', topic);
  const members = userList('users', users);
  if (members.length === 0) throw outOfRange('users', users);
  return atomically(space, null, actor, async (batching) => {
    const now = new DateTime(batching.clock.now());
    const { username } = actor.identity;
    const room = { situationId, topic, users: members, createdBy: username, createdAt: now, modifiedAt: now };
    const chat = await insertOne(space, CHATS, room, batching);
    if (!chat) return null; // a BEFORE rule cancelled the insert
    await addMessage(
      space,
      { chat, sequence: 1, type: 'system', msg: topic, metadata: null, notified: members, sender: username, now },
      batching,
    );
    return idOf(chat);
  });
};

const sendMessage: HostBuiltin = async (space, args, actor) => {
  const [chatId = null, type = null, msg = null, metadata = null, users = null, named = null] = args;
  if (!MESSAGE_TYPES.has(type)) throw outOfRange('type', type);
  if (type === 'text' && (msg === null || msg === '')) throw outOfRange('msg', msg);
  if (named !== null && typeof named !== 'string') throw outOfRange('sender', named);
  const sender = named === null ? null : named.toLowerCase();
  requireOwnName(sender, actor);
  const wanted = userList('userList', users);
  return inOwnRoom(space, chatId, actor, async (chat, batching) => {
    const members = usersOf(chat);
    const stranger = wanted.find((name) => !members.includes(name));
    if (stranger !== undefined) throw outOfRange('userList', stranger);
    const now = timeAfter(batching, getOwn(chat, 'modifiedAt'));
    await update(space, chat, { modifiedAt: now }, batching);
    const sequence = (await lastSequence(space, idOf(chat))) + 1;
    const notified = wanted.length > 0 ? wanted : members;
    return addMessage(space, { chat, sequence, type, msg, metadata, notified, sender: sender ?? actor.identity.username, now }, batching);
  });
};

/** A caller who is no admin may use its own name only. @throws cascade.authorization.denied */
function requireOwnName(sender: string | null, { identity }: Actor): void {
  if (sender !== null && sender !== identity.username && !isAdmin(identity))
    throw apiError('cascade.authorization.denied', 'sendMessage', sender);
}

interface Message {
  readonly chat: ObjectValue;
  readonly sequence: number;
  readonly type: Value;
  readonly msg: Value;
  readonly metadata: Value;
  readonly notified: string[];
  readonly sender: Value;
  readonly now: DateTime;
}

/** Stores a message and publishes it in the same unit. */
async function addMessage(space: Namespace, { chat, now, ...message }: Message, batching: Actor): Promise<Value> {
  const chatId = idOf(chat);
  const stored = await insertOne(space, CHAT_MESSAGES, { ...message, chatId, timestamp: now }, batching);
  if (stored) await publishTopic(space, `/ars_chat/${chatId}`, stored, batching);
  return stored;
}

async function lastSequence(space: Namespace, chatId: string): Promise<number> {
  const options = { sort: { sequence: -1 }, projection: { sequence: 1 } } as const;
  const last = await space.storage.db.collection(CHAT_MESSAGES.collection).findOne({ chatId }, options);
  return Number(last?.['sequence'] ?? 0);
}

/** @param next computes the members after the change */
const changeMembers =
  (next: (members: readonly string[], named: readonly string[]) => string[], parameter: string): HostBuiltin =>
  async (space, [chatId = null, names = null], actor) => {
    const named = userList(parameter, names);
    return inOwnRoom(space, chatId, actor, async (chat, batching) => {
      const before = usersOf(chat);
      const users = next(before, named);
      if (users.length !== before.length)
        await update(space, chat, { users, modifiedAt: timeAfter(batching, getOwn(chat, 'modifiedAt')) }, batching);
      return users;
    });
  };

const deleteChatroom: HostBuiltin = async (space, [chatId = null], actor) => {
  try {
    // Messages of a large room are deleted in several units; after a crash in between the room can be deleted again.
    for (let more = true, part = 0; more; part++)
      await inOwnRoom(space, chatId, checkpointing(actor, part), async (chat, batching) => {
        const messages = await read(space, CHAT_MESSAGES, { chatId: idOf(chat) }, MOST + 1);
        more = messages.length > MOST;
        if (more) await removeAll(space, messages.slice(0, MOST), batching);
        return null;
      });
    return await inOwnRoom(space, chatId, actor, async (chat, batching) => {
      await removeAll(space, await read(space, CHAT_MESSAGES, { chatId: idOf(chat) }, MOST), batching);
      return (await deleteOne(space, CHATS, async () => chat, batching)) === 1;
    });
  } catch (error) {
    if (error instanceof CascadeError && error.code === 'cascade.resource.not.found') return { ok: 'false' };
    throw error;
  }
};

async function removeAll(space: Namespace, messages: readonly ObjectValue[], batching: Actor): Promise<void> {
  for (const message of messages) await deleteOne(space, CHAT_MESSAGES, async () => message, batching);
}

const updateChatrooms: HostBuiltin = async (space, [user = null, old = null], actor) => {
  const username = String(user).toLowerCase();
  if (username !== actor.identity.username && !isAdmin(actor.identity))
    throw apiError('cascade.authorization.denied', 'select', CHATS.name);
  const known = new Map<string, number | null>();
  for (const one of Array.isArray(old) ? old : []) {
    if (!isObject(one) || typeof getOwn(one, '_id') !== 'string') throw outOfRange('oldChatRooms', one);
    known.set(String(getOwn(one, '_id')), timeOf(getOwn(one, 'modifiedAt')));
  }
  const changed: Seen[] = [];
  const gone = new Set(known.keys());
  // All rooms, as only so it is known which are gone. Changed ones beyond the limit are still new or newer at the next call.
  for await (const room of inBatches(space, CHATS, { users: username })) {
    gone.delete(idOf(room));
    const since = known.get(idOf(room)) ?? null;
    if (changed.length >= MOST || (since !== null && (timeOf(getOwn(room, 'modifiedAt')) ?? 0) <= since)) continue;
    changed.push({ room, sinceMs: since });
  }
  return { ok: encodeInner({ changed: await withMessages(space, changed), deleted: [...gone] }) };
};

/** Milliseconds since the epoch; null for a value that is no time. */
function timeOf(value: Value): number | null {
  if (typeof value === 'string') return parseDateTime(value)?.ms ?? null;
  const date = isInteger(value) ? dateTimeOf(Number(value)) : value;
  return date instanceof DateTime ? date.ms : null;
}

/**
 * Changes a room, or writes into it: one that does not name the caller is not there for it, unless it is an admin (resources-and-api.md
 * 4.21). Who could take itself into any room would read all; who could write into any would be told its members.
 * @throws cascade.resource.not.found
 */
const inOwnRoom = (
  space: Namespace,
  chatId: Value,
  actor: Actor,
  change: (chat: ObjectValue, batching: Actor) => Promise<Value>,
): Promise<Answer> =>
  atomically(space, `chat ${String(chatId)}`, actor, async (batching) => {
    const chat = await readAt(space, CHATS, String(chatId));
    const { username } = actor.identity;
    if (!isAdmin(actor.identity) && getOwn(chat, 'createdBy') !== username && !usersOf(chat).includes(username))
      throw apiError('cascade.resource.not.found', `/${CHATS.name}/${String(chatId)}`);
    return change(chat, batching);
  });

const update = (space: Namespace, chat: ObjectValue, changes: ObjectValue, batching: Actor): Promise<unknown> =>
  updateOne(space, CHATS, async () => chat, changeOf(CHATS, changes), batching);

const usersOf = (chat: ObjectValue): string[] => (getOwn(chat, 'users') as string[]).map((name) => name.toLowerCase());

export const chat: HostBuiltins = {
  'Chat.createChatroom': createChatroom,
  'Chat.addUser': changeMembers((members, named) => [...new Set([...members, ...named])], 'usersToBeAdded'),
  'Chat.removeUser': changeMembers((members, named) => members.filter((name) => !named.includes(name)), 'usersToRemove'),
  'Chat.sendMessage': sendMessage,
  'Chat.deleteChatroom': deleteChatroom,
  'Chat.updateChatrooms': updateChatrooms,
};
