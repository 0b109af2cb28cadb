// The shapes of identity: what the store keeps, what it answers, what it can be asked.
import type { Identity } from '../api.ts';
import type { Soon } from '../soon.ts';

/** The answer to a login (resources-and-api.md 6.1). The token is in here only; the store keeps its SHA-256. */
export interface Session {
  token: string;
  expiresAt: Date;
  identity: Identity;
  /** The name to show: preferredUsername where the user has one, else the username. */
  preferredUsername: string;
}

export interface GeneratedPassword {
  username: string;
  password: string;
}

export interface FirstStartOptions {
  /** Default `admin`. */
  adminUsername?: string;
  /** Generated when absent. */
  adminPassword?: string;
  /** Of the user `system` in the namespace `system`; generated when absent. */
  systemPassword?: string;
}

export interface FirstStart {
  /** False when there were accounts before: the options then count for nothing. */
  isFirst: boolean;
  /** Passwords that are known nowhere else. */
  generated: GeneratedPassword[];
}

export interface NewUser {
  username: string;
  password: string;
  /** The home namespace. */
  namespace: string;
  /** Default: `['user', 'user__system']`. */
  profiles?: string[];
  createdBy: string;
}

export interface NewAccessToken {
  name: string;
  /** The creator, whose rights a token without profiles has. */
  username: string;
  namespace: string;
  profiles?: string[];
  /** Absent: never expires. */
  expiresAt?: Date;
}

export interface IdentityStore {
  /** Indexes, and on a new installation its namespaces and first users (6.8). Later starts generate nothing. */
  ensureFirstStart(options: FirstStartOptions): Promise<FirstStart>;
  /** A new password for an account that nobody can enter any more: it is active, and its sessions and tokens are ended. @throws user.not.found, user.password.weak */
  resetAccount(username: string, password: string): Promise<void>;
  /** Basic login. @throws authentication.failed, security.rate.limited, namespace.not.authorized */
  login(username: string, password: string, address: string, targetNamespace?: string): Promise<Session>;
  /** Login with a session or long-lived token; the session never outlives it. @throws authentication.failed, namespace.not.authorized */
  loginWithToken(token: string, targetNamespace?: string): Promise<Session>;
  /**
   * Who a session or long-lived token stands for, in its own namespace or in another that the user may enter; null when the
   * token is unknown, revoked or expired, or its user gone or inactive. @throws namespace.not.authorized
   */
  verify(token: string, targetNamespace?: string): Soon<Identity | null>;
  /** A new session token of 24 h for a valid one, which stays valid (6.3). @throws security.token.invalid */
  refresh(token: string): Promise<Session>;
  /** Ends a session token; anything else is left alone (6.3). */
  revoke(token: string): Promise<void>;
  createNamespace(namespace: string, organization: string | null, createdBy: string): Promise<void>;
  /** @throws user.name.invalid, user.password.weak, resource.duplicate.key */
  createUser(user: NewUser): Promise<void>;
  /** Ends every session of the user. @throws user.password.weak, user.not.found */
  setPassword(username: string, password: string): Promise<void>;
  /** Whether this is the user's password. Wrong ones count against the rate limit. @throws security.rate.limited */
  checkPassword(username: string, password: string, address: string): Promise<boolean>;
  /** An inactive user cannot log in and its tokens are refused. @throws user.not.found */
  setActive(username: string, active: boolean): Promise<void>;
  /** With its tokens. */
  deleteUser(username: string): Promise<void>;
  authorizeUser(username: string, namespace: string, profiles: string[]): Promise<void>;
  revokeAuthorization(username: string, namespace: string): Promise<void>;
  /** A long-lived token (4.12). @returns the token, which is not kept. */
  createAccessToken(token: NewAccessToken): Promise<string>;
  /** A long-lived token and the sessions made from it. @returns whether there was one */
  deleteAccessToken(tokenOrName: string, username: string): Promise<boolean>;
}
