// Tokens and whom they stand for: issued, verified with a bounded memory, ended. Passwords are `open-identity`'s.
import { LRUCache } from 'lru-cache';
import { ObjectId } from 'mongodb';
import type { Identity } from '../api.ts';
import { fault } from '../faults.ts';
import type { Soon } from '../soon.ts';
import { profilesIn } from './accounts.ts';
import type { IdentityCollections, TokenDocument, UserDocument } from './documents.ts';
import { hashToken, isToken, newToken, SESSION_LIFETIME_MS } from './tokens.ts';
import type { Session } from './types.ts';

/** How long another process's revocation may go unnoticed (6.4). One of this process is noticed at once. */
const REMEMBERED_MS = 1000;

interface Verified {
  token: TokenDocument;
  user: UserDocument;
  identity: Identity;
}

export class Sessions {
  readonly #collections: IdentityCollections;
  readonly #now: () => number;
  /** By the token itself: a client sends the same one with every request. */
  readonly #verified = new LRUCache<string, Verified>({ max: 10_000, ttl: REMEMBERED_MS });
  /** Likewise, while the store is asked. */
  readonly #reading = new Map<string, Promise<Verified | null>>();
  /** Raised by each revocation, so that a verification that was under way then is not remembered. */
  #revocations = 0;

  constructor(collections: IdentityCollections, now: () => number) {
    this.#collections = collections;
    this.#now = now;
  }

  /**
   * Null when the token is unknown, revoked or expired, its user gone or inactive, or no longer authorized in its namespace.
   * What a token depends on is looked up, not deleted along with its cause: so no login under way can slip past a revocation.
   */
  verify(text: string): Soon<Verified | null> {
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
   * A new session token of a user. It ends with the token it is made from when that one is long-lived.
   * @throws namespace.not.authorized
   */
  async issue(user: UserDocument, namespace: string, from: TokenDocument | null, expiresAt = this.#inADay()): Promise<Session> {
    const granted = grantedIn(user, from, namespace);
    const profiles = from?.profiles ?? null;
    const token = newToken('session');
    const origin = from?.kind === 'permanent' ? from._id : (from?.origin ?? null);
    const { username } = user;
    const createdAt = new Date(this.#now());
    const owner = { userId: user._id, username, passwordVersion: user.passwordVersion };
    const document = { _id: new ObjectId(), hash: hashToken(token), kind: 'session' as const, ...owner, namespace, profiles, origin };
    await this.#collections.tokens.insertOne({ ...document, createdAt, expiresAt });
    const identity = identityOf(user, namespace, granted);
    return { token, expiresAt, identity, preferredUsername: user.preferredUsername ?? username };
  }

  /** Until when a session made from this one by renewal lasts: a day, and not beyond its long-lived origin (6.1, 6.3). */
  async renewedUntil(token: TokenDocument): Promise<Date> {
    const origin = token.origin && (await this.#collections.tokens.findOne({ _id: token.origin }));
    return this.#notAfter(origin?.expiresAt ?? null);
  }

  /** Until when a session made from this token by login lasts: a day, and not beyond the token itself (6.1). */
  sessionUntil(token: TokenDocument): Date {
    return this.#notAfter(token.expiresAt);
  }

  /** Forgets what is remembered: to be called after each write that may end a token. */
  forget(): void {
    this.#revocations++;
    this.#verified.clear();
    this.#reading.clear(); // who asks from now on must not be told what was read before
  }

  async #readAndRemember(text: string): Promise<Verified | null> {
    const before = this.#revocations;
    const found = await this.#read(hashToken(text));
    if (found && before === this.#revocations) this.#verified.set(text, found);
    else if (!found) this.#verified.delete(text);
    return found;
  }

  async #read(hash: string): Promise<Verified | null> {
    const { tokens, users } = this.#collections;
    const token = await tokens.findOne({ hash });
    if (!token || this.#isExpired(token)) return null;
    const user = await users.findOne({ _id: token.userId });
    if (!user?.active) return null;
    if (token.origin) {
      const origin = await tokens.findOne({ _id: token.origin });
      if (!origin || this.#isExpired(origin)) return null;
    } else if (token.kind === 'session' && token.passwordVersion !== user.passwordVersion) return null;
    const profiles = profilesIn(user, token.namespace);
    return profiles && { token, user, identity: identityOf(user, token.namespace, token.profiles ?? profiles) };
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
 * The profiles in a namespace of a user who came with a token, or with none. A token with profiles of its own is for its namespace only.
 * @throws namespace.not.authorized
 */
export function grantedIn(user: UserDocument, token: TokenDocument | null, namespace: string): string[] {
  const own = token?.profiles ?? null;
  const granted = own === null || token?.namespace === namespace ? profilesIn(user, namespace) : null;
  if (!granted) throw fault('cascade.namespace.not.authorized', namespace);
  return own ?? granted;
}

export function identityOf(user: UserDocument, namespace: string, profiles: string[]): Identity {
  const identity: Identity = { username: user.username, namespace, profiles };
  if (user.system) identity.system = true;
  if (user.installationAdmin) identity.installationAdmin = true;
  return identity;
}
