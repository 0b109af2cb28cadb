// The identity of a socket: its logins, and whether they are still valid (resources-and-api.md 6.4, 6.7).
import { CascadeError, apiError } from '../../model/errors/index.ts';
import type { IdentityStore, Session } from '../../identity/index.ts';
import type { Identity } from '../../engine/index.ts';
import { isObject } from '../../stdlib/values/index.ts';
import { sessionBody } from '../http/index.ts';
import { type Message, textIn, textOfItsOwn } from './message.ts';
import { isLoginOperation } from './operations.ts';

export const isLogin = ({ op }: Message): boolean => isLoginOperation(op);

/** The token was revoked while its socket was open: the socket closes with 4401. */
export class Ended extends Error {}

/** One successful login. What a subscription may hear is decided by the one it was made under, also when another one has followed. */
export class LoggedIn {
  readonly #store: Pick<IdentityStore, 'verify' | 'outlived'>;
  readonly #session: Session;
  readonly #token: string;
  readonly #home: string | undefined;

  constructor(store: Pick<IdentityStore, 'verify' | 'outlived'>, session: Session, token: string, home: string | undefined) {
    this.#store = store;
    this.#session = session;
    this.#token = token;
    this.#home = home;
  }

  get username(): string {
    return this.#session.identity.username;
  }

  /**
   * The present identity. A session outlives its token's 24 hours, but not its revocation or its user's rights.
   * @throws namespace.not.authorized, security.token.invalid; Ended
   */
  async identify(target?: string): Promise<Identity> {
    const session = this.#session;
    try {
      const identity = await this.#store.verify(this.#token, target ?? this.#home);
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

export class Login {
  readonly #store: IdentityStore;
  readonly #address: string;
  #current: LoggedIn | null = null;

  constructor(store: IdentityStore, address: string) {
    this.#store = store;
    this.#address = address;
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
    if (op === 'validate') {
      if (typeof object !== 'string') throw apiError('cascade.security.credentials.missing');
      const token = textOfItsOwn(object);
      const session = await this.#store.loginWithToken(token, target, this.#address, 'same'); // or each reconnection would be one session more
      await admit(session.identity.namespace);
      this.#current = new LoggedIn(this.#store, session, token, target);
      return sessionBody(session);
    }
    const credentials = object !== undefined && isObject(object) ? object : {};
    const username = textIn(credentials, 'username');
    const password = textIn(credentials, 'password');
    if (username === undefined || password === undefined) throw apiError('cascade.security.credentials.missing');
    const session = await this.#store.login(username, password, this.#address, target);
    await admit(session.identity.namespace);
    this.#current = new LoggedIn(this.#store, session, session.token, target);
    return sessionBody(session);
  }

  /** The identity of a request. @throws security.credentials.missing, namespace.not.authorized, security.token.invalid; Ended */
  async identify(target?: string): Promise<Identity> {
    if (!this.#current) throw apiError('cascade.security.credentials.missing');
    return this.#current.identify(target);
  }
}

const isUnauthorized = (error: unknown): boolean => error instanceof CascadeError && error.code === 'cascade.namespace.not.authorized';
