// Tokens and whom they stand for: issued, verified with a bounded memory, ended. Passwords are `open-identity`'s.
import { type Filter, ObjectId } from 'mongodb';
import type { Identity } from './types.ts';
import { apiError } from '../model/errors/index.ts';
import { boundedCache, type MaybePromise } from '../platform/structures/index.ts';
import { accept, isInvited, profilesIn } from './accounts.ts';
import type { IdentityCollections, TokenDocument, UserDocument } from './documents.ts';
import { hashToken, isToken, LONGEST_LOGIN_MS, LONGEST_CHAIN, newToken, SESSION_LIFETIME_MS } from './tokens.ts';
import type { Session } from './types.ts';

/** How long another process's revocation may go unnoticed (6.4). One of this process is noticed at once. */
const REMEMBERED_MS = 1000;

const MINUTE_MS = 60_000;

interface Verified {
  token: TokenDocument;
  user: UserDocument;
  identity: Identity;
}

export class Sessions {
  readonly #collections: IdentityCollections;
  readonly #now: () => number;
  readonly #onEntered: (username: string, namespace: string) => void;
  /** By the token itself: a client sends the same one with every request. */
  readonly #verified = boundedCache<string, Verified>(10_000, REMEMBERED_MS);
  /** Likewise, while the store is asked. */
  readonly #reading = new Map<string, Promise<Verified | null>>();
  readonly #readingUsers = new Map<string, Promise<UserDocument | null>>();
  /** Raised by each revocation, so that a verification that was under way then is not remembered. */
  #revocations = 0;
  /** Readings of the store that are under way, and the sessions that ended in the meantime: they are not remembered. */
  #underWay = 0;
  readonly #endedMeanwhile = new Set<string>();

  /** @param onEntered a user is in a namespace that it was not in before */
  constructor(collections: IdentityCollections, now: () => number, onEntered: (username: string, namespace: string) => void) {
    this.#collections = collections;
    this.#now = now;
    this.#onEntered = onEntered;
  }

  /**
   * Null when the token is unknown, revoked or expired, its user gone or inactive, or no longer authorized in its namespace.
   * What a token depends on is looked up, not deleted along with its cause: so no login under way can slip past a revocation.
   */
  verify(text: string): MaybePromise<Verified | null> {
    const known = this.#verified.get(text);
    if (known) {
      // One that is in use is read again before it is forgotten, so that nobody has to wait for it.
      if (this.#verified.getRemainingTTL(text) < REMEMBERED_MS / 2) this.#readShared(text).catch(() => undefined);
      return this.#isExpired(known.token) ? null : known;
    }
    return isToken(text) ? this.#readShared(text) : null;
  }

  /** Those who come while a token is read share the reading. */
  #readShared(text: string): Promise<Verified | null> {
    const reading = this.#reading.get(text);
    if (reading) return reading;
    const began = this.#readAndRemember(text).finally(() => this.#reading.get(text) === began && this.#reading.delete(text));
    this.#reading.set(text, began);
    return began;
  }

  /**
   * A new session token of a user. It ends with the token it is made from, when that one is long-lived or is revoked.
   * @throws namespace.not.authorized; security.token.invalid: the token it is made from has ended meanwhile, or too many are made one from
   *   the other
   */
  async issue(known: UserDocument, namespace: string, from: TokenDocument | null, expiresAt = this.#inADay()): Promise<Session> {
    if ((from?.ancestors ?? []).length >= LONGEST_CHAIN) throw apiError('cascade.security.token.invalid');
    const user = await this.entering(known, from, namespace);
    const identity = identityIn(user, from, namespace);
    const profiles = from?.profiles ?? null;
    const token = newToken('session');
    const origin = from?.kind === 'permanent' ? from._id : (from?.origin ?? null);
    const ancestors = from?.kind === 'session' ? [...(from.ancestors ?? []), from._id] : [];
    const { username } = user;
    const createdAt = new Date(this.#now());
    const loggedInAt = from ? loginOf(from) : createdAt;
    const owner = { userId: user._id, username, passwordVersion: user.passwordVersion };
    const _id = new ObjectId();
    const document = {
      _id,
      hash: hashToken(token),
      kind: 'session' as const,
      ...owner,
      namespace,
      profiles,
      origin,
      ancestors,
      loggedInAt,
    };
    const basis: TokenDocument = { ...document, ...(from?.singleNamespace && { singleNamespace: true }), createdAt, expiresAt };
    const { tokens } = this.#collections;
    await tokens.insertOne(basis);
    // Revoked between its verification and now: the revocation did not see this one.
    if (from && !(await tokens.findOne(this.#lasting(from._id), { projection: { _id: 1 } }))) {
      await tokens.deleteOne({ _id });
      throw apiError('cascade.security.token.invalid');
    }
    const whole = { ...identity, token: _id.toHexString() };
    return { token, expiresAt, identity: whole, preferredUsername: user.preferredUsername ?? username, basis };
  }

  /**
   * The session that this token is, for a socket in its own namespace. A new one would be another of the organization's `sessions` with each
   * reconnection.
   * @throws authentication.failed: it has ended since its verification
   */
  async again(text: string, { token, user, identity }: Verified): Promise<Session> {
    const { username, preferredUsername } = user;
    const { tokens } = this.#collections;
    if (token.expiresAt === null || !(await tokens.findOne(this.#lasting(token._id), { projection: { _id: 1 } })))
      throw apiError('io.service.security.authentication.failed');
    return { token: text, expiresAt: token.expiresAt, identity, preferredUsername: preferredUsername ?? username, basis: token };
  }

  /** Who a session stands for whose token is past its time; null when its user or what it was made from has ended. */
  async outlived(basis: TokenDocument, namespace: string): Promise<Identity | null> {
    const { tokens, users } = this.#collections;
    const user = await users.findOne({ _id: basis.userId });
    if (!user?.active) return null;
    const holds = basis.origin ? await tokens.findOne({ _id: basis.origin }) : basis.passwordVersion === user.passwordVersion;
    if (!holds) return null;
    return identityIn(user, basis, namespace);
  }

  /** Who enters a namespace accepts with it the invitation that there may be; a token for less than all of the user's cannot. */
  async entering(user: UserDocument, token: TokenDocument | null, namespace: string): Promise<UserDocument> {
    if (!isInvited(user, namespace) || token?.profiles || token?.singleNamespace) return user;
    await accept(this.#collections, user, namespace);
    this.forget();
    this.#onEntered(user.username, namespace);
    return (await this.#collections.users.findOne({ _id: user._id })) ?? user;
  }

  /**
   * Until when a session made from this one by renewal lasts: a day, and not beyond its long-lived origin (6.1, 6.3), nor beyond the longest
   * time after a login.
   * @throws security.token.invalid: it cannot be renewed any more
   */
  async renewedUntil(token: TokenDocument): Promise<Date> {
    const limit = new Date(loginOf(token).getTime() + LONGEST_LOGIN_MS);
    if (limit.getTime() <= this.#now()) throw apiError('cascade.security.token.invalid');
    const origin = token.origin && (await this.#collections.tokens.findOne({ _id: token.origin }));
    const until = this.#notAfter(origin?.expiresAt ?? null);
    return until < limit ? until : limit;
  }

  /** Until when a session made from this token by login lasts: a day, and not beyond the token itself (6.1). */
  sessionUntil(token: TokenDocument): Date {
    return this.#notAfter(token.expiresAt);
  }

  /**
   * Ends a session, and those that were made from it. They expire, and are not deleted: each deletion has all processes look up the rights of
   * all their sockets, and sockets close often.
   */
  async end(text: string, { _id }: TokenDocument): Promise<void> {
    this.#verified.delete(text);
    this.#reading.delete(text);
    if (this.#underWay > 0) this.#endedMeanwhile.add(_id.toHexString());
    await this.#collections.tokens.updateMany({ $or: [{ _id }, { ancestors: _id }] }, { $min: { expiresAt: new Date(this.#now()) } });
    this.#verified.delete(text);
  }

  /** The document of a token that has not ended: an ended session is there until the store removes it. */
  #lasting(_id: ObjectId): Filter<TokenDocument> {
    return { _id, $or: [{ expiresAt: null }, { expiresAt: { $gt: new Date(this.#now()) } }] };
  }

  /** Forgets what is remembered: to be called after each write that may end a token. */
  forget(): void {
    this.#revocations++;
    this.#verified.clear();
    this.#readingUsers.clear();
    this.#reading.clear(); // who asks from now on must not be told what was read before
  }

  async #readAndRemember(text: string): Promise<Verified | null> {
    const before = this.#revocations;
    this.#underWay++;
    try {
      const found = await this.#read(hashToken(text));
      if (found && before === this.#revocations && !this.#hasEnded(found.token)) this.#verified.set(text, found);
      else if (!found) this.#verified.delete(text);
      return found;
    } finally {
      this.#underWay--;
      if (this.#underWay === 0) this.#endedMeanwhile.clear();
    }
  }

  #hasEnded({ _id, ancestors = [] }: TokenDocument): boolean {
    return this.#endedMeanwhile.size > 0 && [_id, ...ancestors].some((one) => this.#endedMeanwhile.has(one.toHexString()));
  }

  async #read(hash: string): Promise<Verified | null> {
    const { tokens } = this.#collections;
    const token = await tokens.findOne({ hash });
    if (!token || this.#isExpired(token)) return null;
    const user = await this.#userWith(token.userId);
    if (!user?.active) return null;
    if (token.origin) {
      const origin = await tokens.findOne({ _id: token.origin });
      if (!origin || this.#isExpired(origin)) return null;
    } else if (token.kind === 'session' && token.passwordVersion !== user.passwordVersion) return null;
    const holds = profilesIn(user, token.namespace) !== null;
    if (holds && token.kind === 'permanent') await this.#noteUse(token);
    return holds ? { token, user, identity: identityIn(user, token, token.namespace) } : null;
  }

  /** To the minute; one that cannot be written is written with the next use. */
  async #noteUse({ _id, lastUsedAt }: TokenDocument): Promise<void> {
    const minute = new Date(Math.floor(this.#now() / MINUTE_MS) * MINUTE_MS);
    if (lastUsedAt && lastUsedAt >= minute) return;
    await this.#collections.tokens.updateOne({ _id }, { $max: { lastUsedAt: minute } }).catch(() => undefined);
  }

  /** Those who need a user while it is read share the reading: after a change all of its sockets look it up. */
  #userWith(_id: ObjectId): Promise<UserDocument | null> {
    const key = _id.toHexString();
    const reading = this.#readingUsers.get(key);
    if (reading) return reading;
    const began = this.#collections.users.findOne({ _id }).finally(() => {
      if (this.#readingUsers.get(key) === began) this.#readingUsers.delete(key);
    });
    this.#readingUsers.set(key, began);
    return began;
  }

  #isExpired(token: TokenDocument): boolean {
    return token.expiresAt !== null && token.expiresAt.getTime() <= this.#now();
  }

  #inADay(): Date {
    return new Date(this.#now() + SESSION_LIFETIME_MS);
  }

  #notAfter(limit: Date | null): Date {
    const day = this.#inADay();
    return limit && limit < day ? limit : day;
  }
}

/**
 * Who a user is in a namespace that came with a token, or with none. A token with profiles of its own is for its namespace only, and so is one
 * that says so.
 * @throws namespace.not.authorized
 */
export function identityIn(user: UserDocument, token: TokenDocument | null, namespace: string): Identity {
  const isBound = token !== null && (token.profiles !== null || token.singleNamespace === true);
  const granted = !isBound || token.namespace === namespace ? profilesIn(user, namespace) : null;
  if (!granted) throw apiError('cascade.namespace.not.authorized', namespace);
  const lasting = token?.kind === 'permanent' ? token._id : token?.origin;
  const isOf = token && {
    token: token._id.toHexString(),
    ...(lasting && { ofToken: lasting.toHexString() }),
    ...(isBound && { bound: true as const }),
  };
  if (!token?.profiles) return { ...identityOf(user, namespace, granted), ...isOf };
  // Neither the user's installation-wide rights nor profiles that the user has lost since the token was made.
  return { username: user.username, namespace, profiles: narrowed(token.profiles, granted), restricted: true, ...isOf };
}

/** No profile is called so: it grants nothing. */
const NONE = '-';

/** What a token's profiles still allow a user with these: an admin has every profile of the namespace, and every profile is less than `admin`. */
export function narrowed(ofToken: readonly string[], ofUser: readonly string[]): string[] {
  const isSystem = (name: string): boolean => name.endsWith('__system');
  return ofToken.map((name) => {
    if (ofUser.includes(name)) return name;
    if (isSystem(name)) return 'user__system';
    if (ofUser.includes('admin')) return name;
    return name === 'admin' ? (ofUser.find((one) => !isSystem(one)) ?? NONE) : NONE;
  });
}

const loginOf = ({ loggedInAt, createdAt }: TokenDocument): Date => loggedInAt ?? createdAt;

export function identityOf(user: UserDocument, namespace: string, profiles: string[]): Identity {
  const identity: Identity = { username: user.username, namespace, profiles };
  if (user.system) identity.system = true;
  // At home only: elsewhere it would lend these rights to the programs of whoever has invited it.
  if (user.installationAdmin && namespace === user.namespace) identity.installationAdmin = true;
  return identity;
}
