// Messages to the devices of users (integrations.md 7.3), stored as ArsPayloadMessage. A message is stored for its users; the source that
// it names sends it from there.
import { cutText, encodeInner, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { Answer } from '../../runtime/transactions/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { isAdmin, requirePublish, requirePublishToSource } from '../../resources/access/index.ts';
import { deleteOne, filterOfId, read, readAt, insertOne, changeOf, updateOne, atomically } from '../../resources/instances/index.ts';
import { PAYLOAD_MESSAGES } from './payload-message-type.ts';
import type { HostBuiltin, HostBuiltins, Namespace } from '../../resources/catalog/index.ts';
import { logOf } from '../sources/index.ts';
import { notifyDevices, usersOf } from './inbox.ts';
import { checkForm } from './payload-form.ts';
import { nameList, own, outOfRange, sourceNamed, timeAfter } from '../../resources/operations/index.ts';
import { deviceTransport, handOver } from './hand-over.ts';
import { type Device, devicesOf } from './push-targets.ts';
import { deletedBy, pendingRecipients, withdrawn } from './payload-messages.ts';
import { pendingOf } from './pending.ts';

const LONGEST_TITLE = 256;
/** Limits the unknown users in one log entry. */
const MOST_NAMED = 10;
/** Bound of what one call of listPending returns. */
const MOST_PENDING_CHARS = 32 * 1024 * 1024;

/** Properties that a replacement must not keep of the message before. */
const AS_NEW: ObjectValue = { expiresAt: null, clientName: null };

const onlyOf = (all: ReadonlyMap<string, readonly Device[]>, only: ReadonlySet<string> | null): ReadonlyMap<string, readonly Device[]> =>
  only ? new Map([...all].map(([user, devices]) => [user, devices.filter(({ deviceId }) => only.has(deviceId))])) : all;

/**
 * Stores a message for those of the named users that the namespace has.
 * @param only devices that are notified; null: all
 * @throws cascade.authorization.denied without the right to publish to the source; the errors of integrations.md 7.3, in its order
 */
export async function storeMessage(
  space: Namespace,
  { source, messageId, users, ...message }: ObjectValue & { source: Value; messageId: Value; users: Value },
  check: () => void,
  batching: Actor,
  only: ReadonlySet<string> | null = null,
): Promise<Value> {
  const found = sourceNamed(space, source);
  requirePublishToSource(space, String(source), batching.identity);
  if (own(found, 'type') !== 'PUSH_NOTIF') throw apiError('cascade.notification.source', source);
  if (own(found, 'active') !== true) throw apiError('cascade.source.inactive', source, 'not active');
  if (!Array.isArray(users) || users.length === 0 || !users.every((one) => typeof one === 'string'))
    throw apiError('cascade.notification.users', users);
  const present = new Set((await space.installation.directory.users(space.name)).map(({ username }) => username));
  const known = [...new Set(users.map((name) => name.toLowerCase()).filter((name) => present.has(name)))];
  const unknown = [...new Set(users.filter((name) => !present.has(name.toLowerCase())))];
  check();
  const topic = isObject(message['payload'] ?? null) ? own(message['payload'] as ObjectValue, 'responseTopic') : null;
  if (typeof topic === 'string') requirePublish(space, topic, batching.identity);
  if (unknown.length > 0) {
    const line = logOf(space, String(source), 'WARN', `Source ${String(source)}: ${unknownText(unknown)}`);
    await batching.commit({ writes: [], events: [], logs: [line] });
  }
  const before = messageId === null ? null : await readAt(space, PAYLOAD_MESSAGES, String(messageId));
  // Its recipients lose what is replaced, as by `retractPayload`: who may use the source that it was sent with may do so.
  if (before) requirePublishToSource(space, String(own(before, 'source')), batching.identity);
  const devices = onlyOf(await devicesOf(space, known), only);
  const record: ObjectValue = {
    ...message,
    source,
    users: known,
    unknownUsers: unknown,
    pendingUsers: known,
    recipients: pendingRecipients(known, devices, (device) => deviceTransport(device, found)),
    // Later than that of the message before: answers and deliveries are told apart by it.
    sentAt: timeAfter(batching, before && own(before, 'sentAt')),
    sentBy: batching.identity.username,
  };
  const after = before
    ? await updateOne(space, PAYLOAD_MESSAGES, async () => before, changeOf(PAYLOAD_MESSAGES, { ...AS_NEW, ...record }), batching)
    : await insertOne(space, PAYLOAD_MESSAGES, record, batching);
  if (before) await notifyDevices(space, 'removed', before, usersOf(before, 'users'), batching);
  if (after) await notifyDevices(space, 'notify', after, known, batching, (id) => !only || only.has(id));
  return after;
}

/** Names at most ten unknown users; the message itself has all. */
function unknownText(users: readonly string[]): string {
  const named = users.slice(0, MOST_NAMED).map((user) => JSON.stringify(cut(user)));
  const more = users.length > named.length ? ` and ${users.length - named.length} more` : '';
  return `a message names users that do not exist: ${named.join(', ')}${more}.`;
}

export const cut = (value: Value): string => (value === null ? '' : cutText(String(value), LONGEST_TITLE));

/** Stores a message in a unit of its own, and has its notes sent. @param line see `atomically` */
export async function sendMessage(
  space: Namespace,
  line: string | null,
  actor: Actor,
  store: (batching: Actor) => Promise<Value>,
): Promise<Answer> {
  let message: Value = null;
  const answer = await atomically(space, line, actor, async (batching) => (message = await store(batching)));
  handOver(space, message);
  return answer;
}

const sendPayload: HostBuiltin = async (space, args, actor) => {
  const [source = null, messageId = null, category = null, title = null, payload = null, users = null] = args;
  const message = { source, messageId, category: cut(category), title: cut(title), payload, users };
  const line = messageId === null ? null : `message ${String(messageId)}`;
  return sendMessage(space, line, actor, (batching) => storeMessage(space, message, () => checkForm(payload), batching));
};

const sendByName: HostBuiltin = async (space, [source = null, title = null, subtitle = null, users = null, clientName = null], actor) => {
  if (clientName === '') throw outOfRange('clientName', clientName);
  const message = { source, messageId: null, category: '', title: cut(title), payload: { subtitle }, users, clientName };
  return sendMessage(space, null, actor, (batching) => storeMessage(space, message, () => undefined, batching));
};

/** A message by its id; null where there is none. */
const messageAt = async (space: Namespace, id: Value): Promise<ObjectValue | null> =>
  (await read(space, PAYLOAD_MESSAGES, filterOfId(String(id)), 1))[0] ?? null;

const retractPayload: HostBuiltin = async (space, [msgId = null, excludeList = null], actor) => {
  const except = nameList('excludeList', excludeList).map((name) => name.toLowerCase());
  return atomically(space, `message ${String(msgId)}`, actor, async (batching) => {
    const message = await messageAt(space, msgId);
    // Who may send with the source may take back what was sent with it, whoever did.
    requirePublishToSource(space, message ? String(own(message, 'source')) : '', batching.identity);
    if (!message) return false;
    const changes = withdrawn(message, except);
    if (!changes) return true;
    await updateOne(space, PAYLOAD_MESSAGES, async () => message, changeOf(PAYLOAD_MESSAGES, changes), batching);
    const gone = usersOf(message, 'pendingUsers').filter((user) => !except.includes(user));
    await notifyDevices(space, 'retract', message, gone, batching);
    return true;
  });
};

const deletePayloadMessages: HostBuiltin = async (space, [msgIds = null], actor) => {
  const ids = nameList('msgIds', msgIds);
  const all = isAdmin(actor.identity);
  return atomically(space, null, actor, async (batching) => {
    let count = 0;
    for (const id of ids) {
      const message = await messageAt(space, id);
      if (!message) continue;
      if (all) {
        count += await deleteOne(space, PAYLOAD_MESSAGES, async () => message, batching);
        await notifyDevices(space, 'removed', message, usersOf(message, 'pendingUsers'), batching);
        continue;
      }
      const changes = deletedBy(message, actor.identity.username);
      if (!changes) continue;
      await updateOne(space, PAYLOAD_MESSAGES, async () => message, changeOf(PAYLOAD_MESSAGES, changes), batching);
      await notifyDevices(space, 'removed', message, [actor.identity.username], batching);
      count++;
    }
    return count;
  });
};

const listPending: HostBuiltin = async (space, [named = null], actor) => {
  const identity = actor.identity;
  const username = named === null ? identity.username : String(named).toLowerCase();
  if (username !== identity.username && !isAdmin(identity)) throw apiError('cascade.authorization.denied', 'select', 'ArsPayloadMessage');
  const texts: string[] = [];
  let left = MOST_PENDING_CHARS;
  for await (const message of pendingOf(space, username)) {
    const seen = isAdmin(identity) ? message : (PAYLOAD_MESSAGES.seen?.instance(message, identity.username) ?? message);
    const text = encodeInner(seen);
    if ((left -= text.length) < 0) throw apiError('cascade.execution.memory', 'Notification.listPending', MOST_PENDING_CHARS);
    texts.push(text);
  }
  return { ok: `[${texts.join(',')}]` };
};

export const notifications: HostBuiltins = {
  'Notification.sendPayload': sendPayload,
  'Notification.retractPayload': retractPayload,
  'Notification.deletePayloadMessages': deletePayloadMessages,
  'Notification.listPending': listPending,
  'Client.sendByName': sendByName,
};
