// Commands of recipients besides answering: they open a message, dismiss it, and preview it (docs/forms.md).
import { DateTime, type ObjectValue } from '../../stdlib/values/index.ts';
import { toJson } from '../../model/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { isAdmin } from '../../resources/access/index.ts';
import type { Namespace, Command } from '../../resources/catalog/index.ts';
import { notFound, readAt, atomically, changeOf, updateOne } from '../../resources/instances/index.ts';
import { own } from '../../resources/operations/index.ts';
import { NO_CONTENT, reply } from '../../resources/requests/index.ts';
import { PAYLOAD_MESSAGES } from './payload-message-type.ts';
import { notifyDevices } from './inbox.ts';
import { deletedBy, readBy, recipientsOf } from './payload-messages.ts';
import { requireSame, sentAtIn } from './seen-message.ts';

const isRecipient = (message: ObjectValue, username: string): boolean =>
  recipientsOf(message).some((one) => own(one, 'username') === username);

/** @throws cascade.resource.not.found: the caller is no recipient of such a message; cascade.notification.not.pending: it was replaced */
async function messageOf(space: Namespace, id: string, sentAt: DateTime | null, { identity }: Actor): Promise<ObjectValue> {
  const message = await readAt(space, PAYLOAD_MESSAGES, id);
  if (!isRecipient(message, identity.username)) throw notFound(PAYLOAD_MESSAGES, id);
  requireSame(id, message, sentAt);
  return message;
}

/** Records when the caller first opened a message. The body may have `sentAt`. */
export const read: Command = async (space, id, { object = null }, actor) => {
  const sentAt = sentAtIn(object);
  await atomically(space, `message ${id}`, actor, async (batching) => {
    const message = await messageOf(space, id, sentAt, batching);
    const changes = readBy(message, batching.identity.username, new DateTime(batching.clock.now()));
    if (changes) await updateOne(space, PAYLOAD_MESSAGES, async () => message, changeOf(PAYLOAD_MESSAGES, changes), batching);
    return null;
  });
  return NO_CONTENT;
};

/** Removes a message from the caller's inbox without an answer. Idempotent. The body may have `sentAt`. */
export const dismiss: Command = async (space, id, { object = null }, actor) => {
  const sentAt = sentAtIn(object);
  await atomically(space, `message ${id}`, actor, async (batching) => {
    await removeFrom(space, batching.identity.username, await messageOf(space, id, sentAt, batching), batching);
    return null;
  });
  return NO_CONTENT;
};

/** Removes a message from a user's inbox, on all devices; has no effect where it is not there. */
export async function removeFrom(space: Namespace, username: string, message: ObjectValue, batching: Actor): Promise<void> {
  const changes = deletedBy(message, username);
  if (!changes) return;
  await updateOne(space, PAYLOAD_MESSAGES, async () => message, changeOf(PAYLOAD_MESSAGES, changes), batching);
  await notifyDevices(space, 'removed', message, [username], batching);
}

/** The message as a recipient sees it, for recipients and admins: JSON for programs, the page that shows it for browsers. */
export const preview: Command = async (space, id, _request, { identity }) => {
  const message = await readAt(space, PAYLOAD_MESSAGES, id);
  if (!isAdmin(identity) && !isRecipient(message, identity.username)) throw notFound(PAYLOAD_MESSAGES, id);
  const [title, category, payload] = [own(message, 'title') ?? '', own(message, 'category') ?? '', own(message, 'payload')];
  return reply(toJson({ title, category, payload }));
};
