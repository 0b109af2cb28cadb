// Invitations into a namespace that are not addressed to anybody (resources-and-api.md 4.9): whoever has the code redeems it, once.
import { ObjectId } from 'mongodb';
import { apiError } from '../model/errors/index.ts';
import { authorizing, changedNow, inTransaction, normalName, profilesIn } from './accounts.ts';
import type { IdentityCollections, InvitationDocument } from './documents.ts';
import { hashToken, isToken, newToken } from './tokens.ts';
import type { Along, NewInvitation } from './types.ts';

/** @returns the code, which is not kept */
export async function invite(
  { client, invitations }: IdentityCollections,
  invitation: NewInvitation,
  now: Date,
  along?: Along,
): Promise<string> {
  const code = newToken('invitation');
  const document = { _id: new ObjectId(), hash: hashToken(code), ...invitation, createdAt: now };
  await inTransaction(client, async (session) => {
    await invitations.insertOne(document, { session });
    await along?.(session, document._id.toHexString());
  });
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
  now: Date,
  along?: Along,
): Promise<void> {
  await inTransaction(client, async (session) => {
    const { deletedCount } = await invitations.deleteOne({ _id }, { session });
    if (deletedCount === 0) throw apiError('cascade.resource.not.found', '/delegatedrequests/…');
    const $set = { ...authorizing({ namespace, profiles, isConsented: true }), ...changedNow(now, username) };
    await users.updateOne({ username: normalName(username) }, [{ $set }], { session });
    await along?.(session, _id.toHexString());
  });
}
