// The identity store over the installation's database: logins, renewals, and the accounts behind them.
import { setTimeout as sleep } from 'node:timers/promises';
import { deleteNamespace, requireDeletable } from './delete-namespace.ts';
import { type ClientSession, type Db, ObjectId } from 'mongodb';
import type { Along, Identity } from './types.ts';
import { CascadeError, apiError } from '../model/errors/index.ts';
import {
  changeUser,
  inTransaction,
  insertUser,
  isInvited,
  keepingAnAdmin,
  normalName,
  refusingDuplicates,
  requireVersion,
} from './accounts.ts';
import { collectionsOf, ensureIndexes, type TokenDocument, type UserDocument } from './documents.ts';
import { firstStart } from './first-start.ts';
import { PasswordHashing } from './hashing.ts';
import { invitationWith, invite, redeem } from './invitations.ts';
import { limitKey } from './limit-key.ts';
import { LoginLimit } from './login-limit.ts';
import { createNamespace } from './new-namespace.ts';
import { revokeAuthorization } from './revocation.ts';
import type { PasswordCost } from './passwords.ts';
import { Rights } from './rights.ts';
import type { SecurityLog } from './security-log.ts';
import { identityIn, Sessions } from './sessions.ts';
import { hashToken, isToken, newToken } from './tokens.ts';
import type { IdentityStore, NewAccessToken, Session } from './types.ts';

/** What `Retry-After` says while a pair or an address is locked (6.6). */
const RETRY_AFTER_SECONDS = 60;

/** How long a change by another process may go unnoticed (6.4); one by this process is noticed at once. */
const REMEMBERED_MS = 1000;

export interface IdentityOptions {
  /** No other process uses the database. */
  readonly exclusive?: boolean;
  /** Of new hashes; `PASSWORD_COST` when absent. */
  readonly passwordCost?: PasswordCost;
  readonly security?: SecurityLog;
  /** There may be one more session in the namespace. @throws quota.exceeded */
  readonly requireSessionRoom?: (namespace: string) => Promise<void>;
  /** What is noted of a new namespace elsewhere in the installation's database, in the transaction that makes it. */
  readonly noted?: (namespace: string, session: ClientSession) => Promise<void>;
}

/**
 * @param db the installation's database
 * @param now milliseconds since the epoch; a parameter for the tests
 */
// oxlint-disable-next-line max-lines-per-function -- an object of short methods over stores and caches that all of them share
export function openIdentity(
  db: Db,
  now: () => number = Date.now,
  { exclusive = false, passwordCost, security, requireSessionRoom: requireRoom = async () => undefined, noted }: IdentityOptions = {},
): IdentityStore {
  const collections = collectionsOf(db);
  const { users, tokens } = collections;
  const sessions = new Sessions(collections, now, (username, namespace) => {
    rights.forget();
    security?.accepted(username, namespace);
  });
  const rights = new Rights(collections, exclusive ? 0 : REMEMBERED_MS);
  const limit = new LoginLimit();
  const hashing = new PasswordHashing(passwordCost);
  const date = (): Date => new Date(now());
  const listeners = new Set<(username: string | null) => void>();
  const changed = (username: string | null): void => {
    sessions.forget();
    rights.forget();
    for (const listener of listeners) listener(username === null ? null : normalName(username));
  };
  const ending = async (username: string, write: Promise<unknown>): Promise<void> => {
    try {
      await write;
    } finally {
      changed(username);
    }
  };

  /** The user whose password this is, counted against the limit; null when it is wrong, at the same cost for unknown users. */
  async function authenticate(name: string, password: string, address: string | null): Promise<UserDocument | null> {
    const username = normalName(name);
    const requireUnlocked = (): void => {
      if (limit.isLocked(username, address, now())) throw apiError('cascade.security.rate.limited', RETRY_AFTER_SECONDS);
    };
    requireUnlocked();
    const waitMs = limit.waitMs(username, now());
    if (waitMs > 0) await sleep(waitMs);
    const matched = await hashing.compare(password, () => {
      requireUnlocked(); // by those who were before it in the line: their guesses are not followed by more work
      return users.findOne({ username });
    });
    requireUnlocked();
    if (matched) limit.succeeded(username, address);
    else limit.failed(username, address, now());
    if (!matched) {
      security?.loginFailed(username, address, 'password');
      if (limit.isLocked(username, address, now())) security?.locked(username, address);
      return null;
    }
    const { found, renewed } = matched;
    // Unless it was changed meanwhile. The password stays the same, so no session ends.
    if (renewed !== undefined) await users.updateOne({ _id: found._id, password: found.password }, { $set: { password: renewed } });
    return found;
  }

  async function verifyIn(asked: ReturnType<Sessions['verify']>, namespace: string | undefined): Promise<Identity | null> {
    const verified = await asked;
    if (!verified || namespace === undefined || namespace === verified.token.namespace) return verified?.identity ?? null;
    const { user, token } = verified;
    try {
      return identityIn(isInvited(user, namespace) ? await sessions.entering(user, token, namespace) : user, token, namespace);
    } catch (error) {
      noteRefusal(error, user.username, namespace);
      throw error;
    }
  }

  function noteRefusal(error: unknown, username: string, namespace: string): void {
    if (!(error instanceof CascadeError) || error.status !== 403) return;
    security?.refused({ username, namespace, address: null, operation: 'enter', resource: 'namespaces', code: error.code });
  }

  /** Who may not enter a namespace is not told of the quota there. @throws as `requireSessionRoom` */
  async function requireRoomFor(user: UserDocument, token: TokenDocument | null, namespace: string): Promise<void> {
    if (!isInvited(user, namespace))
      try {
        identityIn(user, token, namespace);
      } catch {
        return; // the session is refused for that
      }
    await requireRoom(namespace);
  }

  /** A session for who has shown a password or token; told of either way. */
  async function entered(username: string, address: string | null, issuing: Promise<Session>, byPassword = false): Promise<Session> {
    let session: Session;
    try {
      session = await issuing;
    } catch (error) {
      if (error instanceof CascadeError) security?.loginFailed(username, address, error.status === 403 ? 'namespace' : 'token');
      throw error;
    }
    await security?.loggedIn(username, session.identity.namespace, address, byPassword);
    return session;
  }

  return {
    rightsOf: (username, namespace) => rights.of(username, namespace),
    outlived: ({ basis }, targetNamespace) => sessions.outlived(basis, targetNamespace ?? basis.namespace),
    onChanged(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    noticed: () => changed(null),
    async ensureFirstStart(options) {
      await ensureIndexes(collections);
      const first = await firstStart(collections, hashing, options, now);
      rights.forget();
      return first;
    },
    async login(username, password, client, targetNamespace) {
      const address = limitKey(client);
      const user = await authenticate(username, password, address);
      if (user && !user.active) security?.loginFailed(user.username, address, 'inactive');
      if (!user?.active) throw apiError('io.service.security.authentication.failed');
      await requireRoomFor(user, null, targetNamespace ?? user.namespace);
      const session = await entered(user.username, address, sessions.issue(user, targetNamespace ?? user.namespace, null), true);
      await users.updateOne({ _id: user._id }, { $set: { lastLogin: date() } });
      return session;
    },
    async loginWithToken(text, targetNamespace, client = null, session = 'new') {
      const address = limitKey(client);
      const verified = await sessions.verify(text);
      if (!verified) {
        security?.loginFailed('', address, 'token');
        throw apiError('io.service.security.authentication.failed');
      }
      const { user, token } = verified;
      const namespace = targetNamespace ?? token.namespace;
      if (session === 'same' && token.kind === 'session' && namespace === token.namespace && !isInvited(user, namespace))
        return entered(user.username, address, sessions.again(text, verified));
      await requireRoomFor(user, token, namespace);
      const issuing = sessions.issue(user, namespace, token, sessions.sessionUntil(token)).catch((error: unknown) => {
        const isInvalid = error instanceof CascadeError && error.code === 'cascade.security.token.invalid';
        throw isInvalid ? apiError('io.service.security.authentication.failed') : error;
      });
      return entered(user.username, address, issuing);
    },
    verify(text, targetNamespace) {
      const verified = sessions.verify(text);
      const isAtHome = !(verified instanceof Promise) && (targetNamespace ?? verified?.token.namespace) === verified?.token.namespace;
      return isAtHome ? (verified?.identity ?? null) : verifyIn(verified, targetNamespace);
    },
    async refresh(text) {
      const verified = await sessions.verify(text);
      if (verified?.token.kind !== 'session') throw apiError('cascade.security.token.invalid');
      const { user, token } = verified;
      const until = await sessions.renewedUntil(token);
      await requireRoomFor(user, token, token.namespace); // the present one goes on beside it
      return sessions.issue(user, token.namespace, token, until);
    },
    endSession: ({ token, basis }) => sessions.end(token, basis),
    async revoke(text) {
      if (!isToken(text)) return;
      const session = await tokens.findOne({ hash: hashToken(text), kind: 'session' }, { projection: { username: 1 } });
      // The one that the others were made from goes first: from then on no further one is made.
      if (!session) return;
      const { _id, username } = session;
      await ending(
        username,
        tokens.deleteOne({ _id }).then(() => tokens.deleteMany({ ancestors: _id })),
      );
      security?.loggedOut(username);
    },
    createNamespace(namespace, also) {
      const along = async (session: ClientSession): Promise<void> => {
        await noted?.(namespace.namespace, session);
        await also?.(session);
      };
      return ending(namespace.admin?.username ?? namespace.createdBy, createNamespace(collections, hashing, namespace, date(), along));
    },
    createUser: (user, along) => ending(user.username, insertUser(collections, hashing, user, date(), {}, along)),
    async changeUser(username, change, along) {
      await ending(username, changeUser(collections, hashing, username, change, date(), along));
    },
    async resetAccount(name, password, along) {
      const username = normalName(name);
      const ended: Along = async (session, id) => {
        await tokens.deleteMany({ userId: new ObjectId(id) }, { session });
        await along?.(session, id);
      };
      await ending(username, changeUser(collections, hashing, username, { password, active: true }, date(), ended));
    },
    async checkPassword(username, password, address) {
      return (await authenticate(username, password, limitKey(address))) !== null;
    },
    async deleteNamespace(namespace, options) {
      try {
        await deleteNamespace(collections, namespace, options);
      } finally {
        changed(null);
      }
    },
    requireDeletable: (namespace, version) => requireDeletable(collections, namespace, version),
    deletedNamespaces: async () => (await collections.deleted.find().toArray()).map(({ _id }) => _id),
    async namespaceDropped(namespace) {
      await collections.deleted.deleteOne({ _id: namespace });
    },
    keepingAnAdmin: (namespace, username, along) => keepingAnAdmin(collections, namespace, username, along),
    async deleteUser(name, { version, along } = {}) {
      const username = normalName(name);
      const removal = inTransaction(collections.client, async (session) => {
        const gone = await users.findOneAndDelete({ username }, { session });
        if (!gone) throw apiError('cascade.user.not.found', name);
        requireVersion(`/users/${username}`, gone, version);
        await tokens.deleteMany({ userId: gone._id }, { session });
        await along?.(session, gone._id.toHexString());
      });
      await ending(username, removal);
    },
    async authorizeUser(username, namespace, profiles, { isConsented = false, along } = {}) {
      const change = { authorization: { namespace, profiles, isConsented } };
      await ending(username, changeUser(collections, hashing, username, change, date(), along));
    },
    invite: (invitation, along) => invite(collections, invitation, date(), along),
    invitation: (code) => invitationWith(collections, code, date()),
    async redeem(code, username, along) {
      const found = await invitationWith(collections, code, date());
      if (!found) throw apiError('cascade.resource.not.found', '/delegatedrequests/…');
      await ending(username, redeem(collections, found, username, date(), along));
    },
    async revokeAuthorization(name, namespace, { to, along } = {}) {
      const username = normalName(name);
      await ending(username, revokeAuthorization(collections, username, namespace, date(), to, along));
      if (to !== undefined) changed(to);
    },
    async createAccessToken(given: NewAccessToken, along) {
      const { name, username, namespace, profiles, singleNamespace, expiresAt, tokenType, properties = null } = given;
      const token = newToken('permanent');
      const creator = await users.findOne({ username: normalName(username) });
      if (!creator) throw apiError('cascade.user.not.found', username);
      const owner = { userId: creator._id, username: creator.username, passwordVersion: creator.passwordVersion };
      const own = profiles?.length ? profiles : null;
      const document = {
        _id: new ObjectId(),
        hash: hashToken(token),
        kind: 'permanent' as const,
        ...owner,
        namespace,
        profiles: own,
        name,
      };
      const bound = singleNamespace === true && { singleNamespace };
      const whole = {
        ...document,
        ...bound,
        origin: null,
        createdAt: date(),
        expiresAt: expiresAt ?? null,
        ...(tokenType && { tokenType }),
        ...(properties !== null && { properties }),
      };
      await inTransaction(collections.client, async (session) => {
        await refusingDuplicates('tokens', `name=${name}`, () => tokens.insertOne(whole, { session }));
        await along?.(session, whole._id.toHexString());
      });
      return token;
    },
    async deleteAccessToken(id, username, { version, along } = {}) {
      const wanted = { _id: new ObjectId(id), kind: 'permanent' as const, username };
      if (!(await tokens.findOne(wanted))) return false;
      const removal = inTransaction(collections.client, async (session) => {
        const gone = await tokens.findOneAndDelete(wanted, { session });
        if (!gone) return;
        requireVersion(`/tokens/${id}`, gone, version);
        await tokens.deleteMany({ origin: gone._id }, { session }); // they have ended with it, and would go on counting
        await along?.(session, id);
      });
      await ending(username, removal);
      return true;
    },
  };
}
