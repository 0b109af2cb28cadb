// What waits for a user. People may have thousands of messages with long forms, so that they are read a few at a time.
import { ObjectId } from 'mongodb';
import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import { read } from '../../resources/instances/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { PAYLOAD_MESSAGES } from './payload-message-type.ts';
import { isExpired } from './payload-messages.ts';

const AT_ONCE = 50;

/** The messages that a user has not answered and that have not expired, the oldest first. */
export async function* pendingOf(space: Namespace, username: string): AsyncGenerator<ObjectValue> {
  let after: ObjectId | null = null;
  while (true) {
    const filter = { pendingUsers: username, ...(after && { _id: { $gt: after } }) };
    const messages = await read(space, PAYLOAD_MESSAGES, filter, AT_ONCE);
    for (const message of messages) if (!isExpired(message, space.clock.now())) yield message;
    const last = messages.at(-1);
    if (!last || messages.length < AT_ONCE) return;
    after = ObjectId.createFromHexString(String(getOwn(last, '_id')));
  }
}
