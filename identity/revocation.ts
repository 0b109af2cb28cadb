// The end of an authorization (resources-and-api.md 4.9): with the user's tokens in the namespace, or with another user as whose they go on.
import type { ClientSession } from 'mongodb';
import { changedNow, inTransaction, normalName, profilesIn } from './accounts.ts';
import { apiError } from '../model/errors/index.ts';
import type { IdentityCollections, TokenDocument, UserDocument } from './documents.ts';
import type { Along } from './types.ts';

/** @param to gets the long-lived tokens; absent: they are deleted @throws user.not.found */
export async function revokeAuthorization(
  collections: IdentityCollections,
  username: string,
  namespace: string,
  now: Date,
  to: string | undefined,
  along: Along | undefined,
): Promise<void> {
  const { client, users, tokens } = collections;
  await inTransaction(client, async (session) => {
    const user = await users.findOne({ username }, { session });
    const successor = to === undefined ? null : await users.findOne({ username: normalName(to) }, { session });
    if (!user || (to !== undefined && !successor)) throw apiError('cascade.user.not.found', user ? (to ?? '') : username);
    if (successor) await handOver(collections, session, user, successor, namespace, now);
    const others = user.authorizations.filter((one) => one.namespace !== namespace);
    const $set = { authorizations: { $literal: others }, ...changedNow(now, to) };
    await users.updateOne({ _id: user._id }, [{ $set }], { session });
    await tokens.deleteMany({ username, namespace }, { session });
    await along?.(session, user._id.toHexString());
  });
}

/**
 * A token that acted as its user goes on with that user's profiles, not with all that its new owner may: whoever had it still has it. Its sessions
 * end. Where the new owner has one of the same name it is called `<name>.<former user>`.
 */
async function handOver(
  { tokens }: IdentityCollections,
  session: ClientSession,
  from: UserDocument,
  to: UserDocument,
  namespace: string,
  now: Date,
): Promise<void> {
  const given = await tokens.find({ kind: 'permanent', username: from.username, namespace }, { session }).toArray();
  const names = new Set((await tokens.find({ kind: 'permanent', username: to.username }, { session }).toArray()).map(({ name }) => name));
  for (const token of given) {
    const name = freeName(token, names, from.username);
    names.add(name);
    const owner = { userId: to._id, username: to.username, passwordVersion: to.passwordVersion };
    const $set = {
      ...owner,
      name: { $literal: name },
      profiles: { $literal: token.profiles ?? profilesIn(from, namespace) ?? [] },
      ...changedNow(now, to.username),
    };
    await tokens.updateOne({ _id: token._id }, [{ $set }], { session });
  }
}

function freeName({ name = '' }: TokenDocument, taken: ReadonlySet<string | undefined>, former: string): string {
  if (!taken.has(name)) return name;
  const base = `${name}.${former}`;
  for (let nth = 1; ; nth++) {
    const candidate = nth === 1 ? base : `${base}.${nth}`;
    if (!taken.has(candidate)) return candidate;
  }
}
