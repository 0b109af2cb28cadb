// The identity of a socket: its logins, and whether they are still valid (resources-and-api.md 6.4, 6.7).
import { CascadeError, apiError } from '../../model/errors/index.ts';
import type { IdentityStore, Session } from '../../identity/index.ts';
import type { Identity } from '../../engine/index.ts';
import { isObject, type Value } from '../../stdlib/values/index.ts';
import { sessionBody } from '../http/index.ts';
import { type Message, textIn, textOfItsOwn } from './message.ts';
import { isLoginOperation } from './operations.ts';

export const isLogin = ({ op }: Message): boolean => isLoginOperation(op);

/** The token was revoked while its socket was open: the socket closes with 4401. */
export class Ended extends Error {}

type Store = Pick<IdentityStore, 'verify' | 'outlived' | 'endSession'>;

/** One successful login. What a subscription may hear is decided by the one it was made under, also when another one has followed. */
export class LoggedIn {
  readonly #store: Store;
  readonly #session: Session;
  readonly #given: string | null;
  readonly #home: string | undefined;

  /** @param given the token that it was made with; null: a password */
  constructor(store: Store, session: Session, given: string | null, home: string | undefined) {
    this.#store = store;
    this.#session = session;
    this.#given = given;
    this.#home = home;
  }

  get username(): string {
    return this.#session.identity.username;
  }

  /** Ends the session if it is this login's own: that of the token that was given goes on. */
  async end(): Promise<void> {
    if (this.#session.token !== this.#given) await this.#store.endSession(this.#session);
  }

  /** Whether it would end with the session of that one: it is the same, or was made from it. */
  standsOn(other: LoggedIn): boolean {
    const { _id, ancestors = [] } = this.#session.basis;
    return [_id, ...ancestors].some((one) => one.equals(other.#session.basis._id));
  }

  /**
   * The present identity. A session outlives its token's 24 hours, but not its revocation or its user's rights.
   * @throws namespace.not.authorized, security.token.invalid; Ended
   */
  async identify(target?: string): Promise<Identity> {
    const session = this.#session;
    try {
      const identity = await this.#store.verify(this.#given ?? session.token, target ?? this.#home);
      if (identity) return identity;
      if (Date.now() < session.expiresAt.getTime()) throw new Ended('the token was ended');
      const outlived = await this.#store.outlived(session, target ?? this.#home);
      if (outlived) return outlived;
    } catch (error) {
      // The session belongs to the namespace of the login: without a right there it has ended.
      if (!isUnauthorized(error) || (target !== undefined && target !== session.identity.namespace)) throw error;
    }
    throw new Ended('the user was ended');
  }
}

/** So many logins of a socket before the present one keep their sessions. */
const MOST_FORMER = 8;

/** Whatever keeps it from being ended: it expires by itself, and the answer to the login is another matter. */
const ended = (login: LoggedIn): Promise<void> => login.end().catch(() => undefined);

export class Login {
  readonly #store: IdentityStore;
  readonly #address: string;
  readonly #isUsed: (login: LoggedIn) => boolean;
  #current: LoggedIn | null = null;
  /** The ones before it: they last until the socket closes, as clients repeat a login until it is answered, and use what the first answer gave. */
  readonly #former = new Set<LoggedIn>();
  #isClosed = false;

  /** @param isUsed whether a login is needed when another one has followed */
  constructor(store: IdentityStore, address: string, isUsed: (login: LoggedIn) => boolean) {
    this.#store = store;
    this.#address = address;
    this.#isUsed = isUsed;
  }

  get isDone(): boolean {
    return this.#current !== null;
  }

  /** The user; null before the login. */
  get username(): string | null {
    return this.#current?.username ?? null;
  }

  /** The last success; null before. */
  get current(): LoggedIn | null {
    return this.#current;
  }

  /**
   * Carries out `authenticate` or `validate`. The last success decides; a failure changes nothing.
   * @param admit gets the namespace before the login counts, and may refuse it
   * @returns the answer's body
   * @throws authentication.failed, security.rate.limited, security.credentials.missing, namespace.not.authorized
   */
  async enter({ op, resourceName, object, targetNamespace }: Message, admit: (namespace: string) => Promise<void>): Promise<string> {
    const target = targetNamespace === undefined ? undefined : textOfItsOwn(targetNamespace);
    if (resourceName?.replace(/^system\./, '') !== 'credentials')
      throw apiError('cascade.request.parameter.invalid', 'resourceName', resourceName ?? null);
    const given = op === 'validate' ? tokenIn(object) : null;
    const session =
      given === null ? await this.#withPassword(object, target) : await this.#store.loginWithToken(given, target, this.#address, 'same'); // or each reconnection would be one session more
    const login = new LoggedIn(this.#store, session, given, target);
    try {
      await admit(session.identity.namespace);
      if (this.#isClosed) throw new Ended('the socket was closed');
    } catch (error) {
      await ended(login);
      throw error;
    }
    if (this.#current) this.#former.add(this.#current);
    this.#current = login;
    await this.#trim(login);
    return sessionBody(session);
  }

  /** Ends the oldest of too many former logins, but for those that are needed. */
  async #trim(login: LoggedIn): Promise<void> {
    const spare = this.#former.size > MOST_FORMER ? [...this.#former].find((one) => !this.#isUsed(one) && !login.standsOn(one)) : undefined;
    if (!spare) return;
    this.#former.delete(spare);
    await ended(spare);
  }

  #withPassword(object: Value | undefined, target: string | undefined): Promise<Session> {
    const credentials = object !== undefined && isObject(object) ? object : {};
    const username = textIn(credentials, 'username');
    const password = textIn(credentials, 'password');
    if (username === undefined || password === undefined) throw apiError('cascade.security.credentials.missing');
    return this.#store.login(username, password, this.#address, target);
  }

  /** The sessions that were made for the socket end with it (interface.md, Authentication 6). */
  async close(): Promise<void> {
    this.#isClosed = true;
    const all = this.#current ? [...this.#former, this.#current] : [];
    await Promise.all(all.map((login) => login.end()));
  }

  /** The identity of a request. @throws security.credentials.missing, namespace.not.authorized, security.token.invalid; Ended */
  async identify(target?: string): Promise<Identity> {
    if (!this.#current) throw apiError('cascade.security.credentials.missing');
    return this.#current.identify(target);
  }
}

function tokenIn(object: Value | undefined): string {
  if (typeof object !== 'string') throw apiError('cascade.security.credentials.missing');
  return textOfItsOwn(object);
}

const isUnauthorized = (error: unknown): boolean => error instanceof CascadeError && error.code === 'cascade.namespace.not.authorized';
