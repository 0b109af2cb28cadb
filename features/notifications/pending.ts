// What waits for a user. People may have thousands of messages with long forms, so that they are read a few at a time.
import { type Document, ObjectId } from 'mongodb';
import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import { read } from '../../resources/instances/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { PAYLOAD_MESSAGES } from './payload-message-type.ts';
import { isExpired } from './payload-messages.ts';

const AT_ONCE = 50;

/** The messages that a user has not answered and that have not expired, the oldest first. */
export async function* pendingOf(space: Namespace, username: string): AsyncGenerator<ObjectValue> {
  for await (const message of messagesWith(space, { pendingUsers: username })) if (!isExpired(message, space.clock.now())) yield message;
}

/** All messages of a filter, the oldest first. */
export async function* messagesWith(space: Namespace, filter: Document): AsyncGenerator<ObjectValue> {
  let after: ObjectId | null = null;
  while (true) {
    const messages = await read(space, PAYLOAD_MESSAGES, { ...filter, ...(after && { _id: { $gt: after } }) }, AT_ONCE);
    yield* messages;
    const last = messages.at(-1);
    if (!last || messages.length < AT_ONCE) return;
    after = ObjectId.createFromHexString(String(getOwn(last, '_id')));
  }
}
