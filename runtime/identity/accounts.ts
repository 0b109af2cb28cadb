// Users and namespaces: made, changed, removed. Rights to do so are the engine's to check; what it costs the tokens is `sessions`'.
import { type Document, ObjectId, type UpdateFilter } from 'mongodb';
import { fault } from '../faults.ts';
import { type IdentityCollections, isDuplicateKey, type UserDocument } from './documents.ts';
import { hashPassword, requireStrong } from './passwords.ts';
import type { NewUser } from './types.ts';

export const DEFAULT_PROFILES = ['user', 'user__system'];

const USERNAME = /^[a-z0-9]([a-z0-9_.@-]{0,126}[a-z0-9])?$/;
const NAMESPACE = /^[A-Za-z0-9][A-Za-z0-9_]{0,63}$/;

export const normalName = (username: string): string => username.toLowerCase();

type FirstRights = Pick<UserDocument, 'system' | 'installationAdmin'>;

/** @throws user.name.invalid, user.password.weak, resource.duplicate.key */
export async function insertUser({ users }: IdentityCollections, user: NewUser, now: Date, rights: FirstRights = {}): Promise<void> {
  const username = normalName(user.username);
  requireUsername(username);
  requireStrong(user.password);
  const password = await hashPassword(user.password);
  const { namespace, createdBy, profiles = DEFAULT_PROFILES } = user;
  const secret = { password, passwordVersion: 1 };
  const document = { _id: new ObjectId(), username, ...secret, namespace, profiles, authorizations: [], active: true, ...rights };
  await refusingDuplicates('users', `username=${username}`, () => users.insertOne({ ...document, createdAt: now, createdBy }));
}

/** @throws resource.name.invalid, resource.duplicate.key */
export async function insertNamespace(
  { namespaces }: IdentityCollections,
  entry: { namespace: string; organization: string | null; createdBy: string },
  now: Date,
): Promise<void> {
  if (!NAMESPACE.test(entry.namespace))
    throw fault('cascade.resource.name.invalid', entry.namespace, 'letters, digits and _, at most 64, not _ first');
  await refusingDuplicates('namespaces', `namespace=${entry.namespace}`, () =>
    namespaces.insertOne({ _id: new ObjectId(), ...entry, createdAt: now }),
  );
}

/** @throws user.name.invalid; the name is already in lower case */
export function requireUsername(username: string): void {
  if (!USERNAME.test(username))
    throw fault('cascade.user.name.invalid', 'users', 'username', 'letters and digits, with _ . - @ between them, at most 128');
}

/** @throws user.not.found */
export async function updateUser(
  { users }: IdentityCollections,
  username: string,
  change: UpdateFilter<UserDocument> | Document[],
): Promise<void> {
  const { matchedCount } = await users.updateOne({ username: normalName(username) }, change);
  if (matchedCount === 0) throw fault('cascade.user.not.found', username);
}

/** Sets the user's profiles in a namespace, at home or elsewhere, in one atomic step. @throws user.not.found */
export function authorize(collections: IdentityCollections, username: string, namespace: string, profiles: string[]): Promise<void> {
  const atHome = { $eq: ['$namespace', { $literal: namespace }] };
  const others = { $filter: { input: '$authorizations', cond: { $ne: ['$$this.namespace', { $literal: namespace }] } } };
  const withThis = { $concatArrays: [others, [{ $literal: { namespace, profiles } }]] };
  return updateUser(collections, username, [
    {
      $set: {
        profiles: { $cond: [atHome, { $literal: profiles }, '$profiles'] },
        authorizations: { $cond: [atHome, '$authorizations', withThis] },
      },
    },
  ]);
}

/** The profiles of a user in a namespace; null where it has no business. */
export function profilesIn(user: UserDocument, namespace: string): string[] | null {
  if (namespace === user.namespace) return user.profiles;
  return user.authorizations.find((authorization) => authorization.namespace === namespace)?.profiles ?? null;
}

export async function refusingDuplicates(resource: string, key: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (isDuplicateKey(error)) throw fault('cascade.resource.duplicate.key', resource, key);
    throw error;
  }
}
