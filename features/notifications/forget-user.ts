// What a user that is deleted has in its inbox (resources-and-api.md 4.11): its devices go, and messages no longer wait for it, so that
// whoever has its name later does not receive them. Messages that it was sent stay, for those who sent them.
import type { Document } from 'mongodb';
import { serviceActor } from '../../runtime/context/index.ts';
import { ignoreDeleted } from '../../resources/definitions/index.ts';
import type { InstanceResource, Namespace } from '../../resources/catalog/index.ts';
import { atomically, deleteOne, read, readAt, readById } from '../../resources/instances/index.ts';
import { PAYLOAD_MESSAGES } from './payload-message-type.ts';
import { PUSH_TARGETS } from './push-targets.ts';
import { removeFrom } from './recipients.ts';

/** Rows that are read at once. */
const PAGE = 100;

export async function forgetUser(space: Namespace, username: string): Promise<void> {
  const actor = serviceActor(space);
  await forEach(space, PAYLOAD_MESSAGES, { pendingUsers: username }, (id) =>
    atomically(space, `message ${id}`, actor, async (batching) => {
      await removeFrom(space, username, await readAt(space, PAYLOAD_MESSAGES, id), batching);
      return null;
    }),
  );
  await forEach(space, PUSH_TARGETS, { username }, (id) => deleteOne(space, PUSH_TARGETS, () => readById(space, PUSH_TARGETS, id), actor));
}

/** The work takes each row out of what matches. */
async function forEach(
  space: Namespace,
  resource: InstanceResource,
  where: Document,
  work: (id: string) => Promise<unknown>,
): Promise<void> {
  const done = new Set<string>();
  for (;;) {
    const ids = (await read(space, resource, where, PAGE)).map(({ _id }) => String(_id)).filter((id) => !done.has(id));
    if (ids.length === 0) return;
    for (const id of ids) {
      done.add(id);
      await ignoreDeleted(work(id));
    }
  }
}
