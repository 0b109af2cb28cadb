// Invitations into a namespace that are not addressed to anybody (resources-and-api.md 4.9): whoever has the code redeems it, once.
import { ObjectId } from 'mongodb';
import { fault } from '../model/errors/faults.ts';
import { authorizing, normalName, profilesIn } from './accounts.ts';
import type { IdentityCollections, InvitationDocument } from './documents.ts';
import { hashToken, isToken, newToken } from './tokens.ts';
import type { NewInvitation } from './types.ts';

/** @returns the code, which is not kept */
export async function invite({ invitations }: IdentityCollections, invitation: NewInvitation, now: Date): Promise<string> {
  const code = newToken('invitation');
  await invitations.insertOne({ _id: new ObjectId(), hash: hashToken(code), ...invitation, createdAt: now });
  return code;
}

/** What a code stands for; null when it is used, expired or none, or when who invited no longer administers the namespace. */
export async function invitationWith(
  { invitations, users, namespaces }: IdentityCollections,
  code: string,
  now: Date,
): Promise<InvitationDocument | null> {
  const found = isToken(code) ? await invitations.findOne({ hash: hashToken(code) }) : null;
  if (!found || found.expiresAt <= now) return null;
  const inviter = await users.findOne({ username: found.createdBy, active: true });
  const administers = inviter && (inviter.system === true || profilesIn(inviter, found.namespace)?.includes('admin'));
  return administers && (await namespaces.findOne({ namespace: found.namespace })) ? found : null;
}

/** The user has the profiles that it offers, and nobody else can redeem it any more. @throws resource.not.found */
export async function redeem(
  { client, invitations, users }: IdentityCollections,
  { _id, namespace, profiles }: InvitationDocument,
  username: string,
): Promise<void> {
  await client.withSession((session) =>
    session.withTransaction(async () => {
      const { deletedCount } = await invitations.deleteOne({ _id }, { session });
      if (deletedCount === 0) throw fault('cascade.resource.not.found', '/delegatedrequests/…');
      const change = { namespace, profiles, isConsented: true };
      await users.updateOne({ username: normalName(username) }, [{ $set: authorizing(change) }], { session });
    }),
  );
}
