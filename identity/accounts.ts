// Users and namespaces: made, changed, removed. Rights to do so are the engine's to check; what it costs the tokens is `sessions`'.
import { type ClientSession, type Document, type MongoClient, ObjectId } from 'mongodb';
import { apiError } from '../model/errors/index.ts';
import { type Changes, type IdentityCollections, isDuplicateKey, type UserDetail, type UserDocument } from './documents.ts';
import type { PasswordHashing } from './hashing.ts';
import { requireStrong } from './passwords.ts';
import type { Along, NewUser, UserChange } from './types.ts';

export const DEFAULT_PROFILES = ['user', 'user__system'];

const USERNAME = /^[a-z0-9]([a-z0-9_.@-]{0,126}[a-z0-9])?$/;

export const normalName = (username: string): string => username.toLowerCase();

type FirstRights = Pick<UserDocument, 'system' | 'installationAdmin'>;

/** @throws user.name.invalid, user.password.weak, security.rate.limited, resource.duplicate.key */
export async function insertUser(
  { client, users }: IdentityCollections,
  hashing: PasswordHashing,
  user: NewUser,
  now: Date,
  rights: FirstRights = {},
  along?: Along,
): Promise<void> {
  const document = await userDocument(hashing, user, now, rights);
  const key = `username=${document.username}`;
  await inTransaction(client, async (session) => {
    await refusingDuplicates('users', key, () => users.insertOne(document, { session }));
    await along?.(session, document._id.toHexString());
  });
}

/** @throws user.name.invalid, user.password.weak, security.rate.limited */
export async function userDocument(hashing: PasswordHashing, user: NewUser, now: Date, rights: FirstRights = {}): Promise<UserDocument> {
  const username = normalName(user.username);
  requireUsername(username);
  requireStrong(user.password);
  const password = await hashing.hash(user.password);
  const { namespace, createdBy, profiles = DEFAULT_PROFILES, active = true, details = {}, properties = null } = user;
  const secret = { password, passwordVersion: 1 };
  const known = Object.fromEntries(Object.entries(details).filter(([, value]) => value !== null)) as Partial<Record<UserDetail, string>>;
  const document = { _id: new ObjectId(), username, ...secret, namespace, profiles, authorizations: [], active, ...known, ...rights };
  return { ...document, ...(properties !== null && { properties }), createdAt: now, createdBy };
}

/** @throws user.name.invalid; the name is already in lower case */
export function requireUsername(username: string): void {
  if (!USERNAME.test(username))
    throw apiError('cascade.user.name.invalid', 'users', 'username', 'letters and digits, with _ . - @ between them, at most 128');
}

/**
 * Changes a user in one step, with the token that outlives the change of its password.
 * @throws user.not.found, user.password.weak, security.rate.limited, update.authorization.or.version.conflict
 */
export async function changeUser(
  collections: IdentityCollections,
  hashing: PasswordHashing,
  name: string,
  change: UserChange,
  now: Date,
  along?: Along,
): Promise<void> {
  const { client, users, tokens } = collections;
  const username = normalName(name);
  if (change.password !== undefined) requireStrong(change.password);
  const password = change.password === undefined ? null : await hashing.hash(change.password);
  const $set: Document = { ...(change.authorization && authorizing(change.authorization)) };
  if (password !== null) Object.assign($set, { password: { $literal: password }, passwordVersion: { $add: ['$passwordVersion', 1] } });
  if (change.active !== undefined) $set['active'] = { $literal: change.active };
  const plain = { ...change.details, ...(change.properties !== undefined && { properties: change.properties }) };
  for (const [name, value] of Object.entries(plain)) $set[name] = value === null ? '$$REMOVE' : { $literal: value };
  Object.assign($set, changedNow(now, change.by));
  await inTransaction(client, async (session) => {
    const before = await users.findOne({ username }, { session });
    if (!before) throw apiError('cascade.user.not.found', name);
    requireVersion(`/users/${username}`, before, change.version);
    const changed = await users.findOneAndUpdate({ _id: before._id }, [{ $set }], { session, returnDocument: 'after' });
    await along?.(session, before._id.toHexString());
    const { exceptToken } = change;
    if (!changed || password === null) return;
    const { _id: userId, passwordVersion } = changed;
    if (exceptToken !== undefined) {
      const kept = { _id: ObjectId.createFromHexString(exceptToken), userId };
      await tokens.updateOne(kept, { $set: { passwordVersion } }, { session });
    }
    // They have ended with the password, and would go on counting.
    await tokens.deleteMany({ userId, kind: 'session', origin: null, passwordVersion: { $ne: passwordVersion } }, { session });
  });
}

/**
 * What goes along with a change that takes an admin of a namespace away: of several at once, which each leave another one, the last is refused.
 * They all write the namespace's document, so that their transactions meet.
 * @throws, when it is called, namespace.last.admin
 */
export const keepingAnAdmin =
  ({ users, namespaces }: IdentityCollections, namespace: string, username: string, along?: Along): Along =>
  async (session, id) => {
    await namespaces.updateOne({ namespace }, { $inc: { adminChanges: 1 } }, { session }); // what sets a value that is there already writes nothing
    const elsewhere = { authorizations: { $elemMatch: { namespace, profiles: 'admin', invited: { $ne: true } } } };
    const left = await users.findOne(
      { active: true, $or: [{ namespace, profiles: 'admin' }, elsewhere] },
      { session, projection: { _id: 1 } },
    );
    if (!left) throw apiError('cascade.namespace.last.admin', username);
    await along?.(session, id);
  };

/** The stages that count a change, with when it was and by whom. */
export const changedNow = (now: Date, by: string | undefined): Document => ({
  version: { $add: [{ $ifNull: ['$version', 1] }, 1] },
  modifiedAt: now,
  ...(by !== undefined && { modifiedBy: { $literal: by } }),
});

/** @throws update.authorization.or.version.conflict */
export function requireVersion(path: string, { version = 1 }: Changes, expected: bigint | undefined): void {
  if (expected !== undefined && expected !== BigInt(version))
    throw apiError('cascade.update.authorization.or.version.conflict', path, Number(expected), version);
}

/** All of it or nothing; tried again where it meets another one. */
export const inTransaction = <T>(client: MongoClient, work: (session: ClientSession) => Promise<T>): Promise<T> =>
  client.withSession((session) => session.withTransaction(() => work(session)));

/**
 * Sets the user's profiles in a namespace, at home or elsewhere. A user of elsewhere who is not in it yet is invited: the profiles are in force
 * from `accept` on, or at once where the user has asked for it.
 */
export function authorizing({ namespace, profiles, isConsented }: NonNullable<UserChange['authorization']>): Document {
  const atHome = { $eq: ['$namespace', { $literal: namespace }] };
  const isHere = { $eq: ['$$this.namespace', { $literal: namespace }] };
  const others = { $filter: { input: '$authorizations', cond: { $not: isHere } } };
  const inForce = {
    $anyElementTrue: { $map: { input: '$authorizations', as: 'this', in: { $and: [isHere, { $ne: ['$$this.invited', true] }] } } },
  };
  const granted = { $literal: { namespace, profiles } };
  const invited = { $literal: { namespace, profiles, invited: true } };
  const withThis = { $concatArrays: [others, [isConsented ? granted : { $cond: [inForce, granted, invited] }]] };
  return {
    profiles: { $cond: [atHome, { $literal: profiles }, '$profiles'] },
    authorizations: { $cond: [atHome, '$authorizations', withThis] },
  };
}

/** An invitation of the user is in force from now on. @returns whether there was one */
export async function accept({ users }: IdentityCollections, { _id }: UserDocument, namespace: string): Promise<boolean> {
  const { modifiedCount } = await users.updateOne(
    { _id, authorizations: { $elemMatch: { namespace, invited: true } } },
    { $unset: { 'authorizations.$.invited': '' } },
  );
  return modifiedCount === 1;
}

/** The profiles of a user in a namespace; null where it has no business, or is no more than invited. */
export function profilesIn(user: UserDocument, namespace: string): string[] | null {
  if (namespace === user.namespace) return user.profiles;
  const found = user.authorizations.find((authorization) => authorization.namespace === namespace);
  return found && !found.invited ? found.profiles : null;
}

/** Those that the user has in a namespace or would have once it has entered it. */
export const profilesOf = (user: UserDocument, namespace: string): string[] =>
  namespace === user.namespace ? user.profiles : (user.authorizations.find((one) => one.namespace === namespace)?.profiles ?? []);

/** Whether an admin of the namespace has invited the user, who has not entered it yet. */
export const isInvited = (user: UserDocument, namespace: string): boolean =>
  user.authorizations.some((authorization) => authorization.namespace === namespace && authorization.invited === true);

export async function refusingDuplicates(resource: string, key: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (isDuplicateKey(error)) throw apiError('cascade.resource.duplicate.key', resource, key);
    throw error;
  }
}
