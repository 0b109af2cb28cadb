// The shapes of identity: what the store keeps, what it answers, what it can be asked.
import type { ClientSession } from 'mongodb';
import type { MaybePromise } from '../platform/structures/index.ts';
import type { TokenDocument, TokenType, UserDetail } from './documents.ts';

/**
 * What is stored in the transaction of a change, its audit: when it fails, the change is not there either. It may be called more than once.
 * @param id `_id` of what is changed
 */
export type Along = (session: ClientSession, id: string) => Promise<unknown>;

/** The answer to a login (resources-and-api.md 6.1). The token is in here only; the store keeps its SHA-256. */
export interface Session {
  token: string;
  expiresAt: Date;
  identity: Identity;
  /** The name to show: preferredUsername where the user has one, else the username. */
  preferredUsername: string;
  /** What the session rests on, for who goes on with it beyond the token's time. */
  basis: TokenDocument;
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
  /** Null or absent: not known. */
  details?: UserDetails;
  /** `ars_properties`, as JSON; null or absent: none. */
  properties?: string | null;
  /** Default true. */
  active?: boolean;
  createdBy: string;
}

export type UserDetails = Readonly<Partial<Record<UserDetail, string | null>>>;

/** What is to be another one; what is absent stays. */
export interface UserChange {
  /** Ends every session of the user. */
  password?: string;
  /** `_id` of a session that goes on although the password is another one. */
  exceptToken?: string;
  /** An inactive user cannot log in and its tokens are refused. */
  active?: boolean;
  /** Null takes a detail away. */
  details?: UserDetails;
  /** `ars_properties`, as JSON; null takes them away. */
  properties?: string | null;
  /** The profiles in a namespace, as of `authorizeUser`. */
  authorization?: { namespace: string; profiles: string[]; isConsented: boolean };
  /** Who changes it. */
  by?: string;
  /** What it is to be changed from; absent: whatever it is. */
  version?: bigint;
}

export interface NewNamespace {
  namespace: string;
  /** A new one, of which this is the root. */
  organization?: { name: string; description?: string };
  /** One that there is, for a namespace that is not its root. */
  within?: string;
  /** A new user who is at home here, or one of elsewhere, who is invited unless it has asked for this itself; absent: nobody. */
  admin?: { username: string; profiles: string[] } & ({ password: string } | { isConsented: boolean });
  createdBy: string;
}

export interface NewInvitation {
  namespace: string;
  profiles: string[];
  createdBy: string;
  expiresAt: Date;
}

export interface NewAccessToken {
  name: string;
  /** The creator, whose rights a token without profiles has. */
  username: string;
  namespace: string;
  profiles?: string[];
  /** Without profiles: for this namespace only, also where the creator may enter others. */
  singleNamespace?: true;
  /** Absent: never expires. */
  expiresAt?: Date;
  /** What its creator says that it is for. */
  tokenType?: TokenType;
  /** `ars_properties`, as JSON; null or absent: none. */
  properties?: string | null;
}

export interface IdentityStore {
  /** The rights that a user has now in a namespace; null for one who is gone, inactive or not in it. */
  rightsOf(username: string, namespace: string): MaybePromise<Identity | null>;
  /** Indexes, and on a new installation its namespaces and first users (6.8). Later starts generate nothing. */
  ensureFirstStart(options: FirstStartOptions): Promise<FirstStart>;
  /** A new password for an account that nobody can enter any more: it is active, and its sessions and tokens are ended. @throws user.not.found, user.password.weak */
  resetAccount(username: string, password: string, along?: Along): Promise<void>;
  /** Basic login. @throws authentication.failed, security.rate.limited, namespace.not.authorized */
  login(username: string, password: string, address: string, targetNamespace?: string): Promise<Session>;
  /**
   * Login with a session or long-lived token; the session never outlives it.
   * @param session 'same': the token of a session, in its own namespace, goes on as that session
   * @throws authentication.failed, namespace.not.authorized
   */
  loginWithToken(token: string, targetNamespace?: string, address?: string | null, session?: 'new' | 'same'): Promise<Session>;
  /** Ends the session of a connection that has closed. Unlike a revocation it is no reason for others to look up their rights. */
  endSession(session: Session): Promise<void>;
  /**
   * Who a session or long-lived token stands for, in its own namespace or in another that the user may enter; null when the
   * token is unknown, revoked or expired, or its user gone or inactive. @throws namespace.not.authorized
   */
  verify(token: string, targetNamespace?: string): MaybePromise<Identity | null>;
  /**
   * Who a session stands for whose token is past its time: a socket may outlive that, but neither its user nor what it was made from (6.4, 6.7).
   * Null when these have ended. @throws namespace.not.authorized
   */
  outlived(session: Session, targetNamespace?: string): Promise<Identity | null>;
  /**
   * Tells, from now on, after each change by which somebody may have other rights, before who made it is answered.
   * @param listener is given the name of the user; null: it may be anybody
   * @returns ends it
   */
  onChanged(listener: (username: string | null) => void): () => void;
  /** Another process has changed users or tokens. */
  noticed(): void;
  /** A new session token of 24 h for a valid one, which stays valid (6.3). @throws security.token.invalid */
  refresh(token: string): Promise<Session>;
  /** Ends a session token; anything else is left alone (6.3). */
  revoke(token: string): Promise<void>;
  /**
   * @param also is done in the same transaction
   * @throws resource.name.invalid, user.name.invalid, user.password.weak, user.not.found, resource.duplicate.key; then nothing of it is there
   */
  createNamespace(namespace: NewNamespace, also?: (session: ClientSession) => Promise<unknown>): Promise<void>;
  /**
   * With the users at home there, their tokens and those of the namespace, authorizations and invitations. Its name is not free before
   * `namespaceDropped`. @throws resource.not.found, organization.in.use
   */
  deleteNamespace(namespace: string, options?: Ending): Promise<void>;
  /** Refuses what `deleteNamespace` would refuse. */
  requireDeletable(namespace: string, version: Ending['version']): Promise<void>;
  /** Namespaces that were deleted, whose data may still be there. */
  deletedNamespaces(): Promise<string[]>;
  /** Nothing of it is left. */
  namespaceDropped(namespace: string): Promise<void>;
  /** @throws user.name.invalid, user.password.weak, resource.duplicate.key */
  createUser(user: NewUser, along?: Along): Promise<void>;
  /** Changes all of it or nothing. @throws user.password.weak, user.not.found, update.authorization.or.version.conflict */
  changeUser(username: string, change: UserChange, along?: Along): Promise<void>;
  /**
   * Whether this is the user's password. Wrong ones count against the rate limit.
   * @param address null: no client asks, but a program of the user @throws security.rate.limited
   */
  checkPassword(username: string, password: string, address: string | null): Promise<boolean>;
  /** What goes along with a change that takes the user's rights as an admin of the namespace away. @throws, along with it, namespace.last.admin */
  keepingAnAdmin(namespace: string, username: string, along?: Along): Along;
  /** With its tokens. */
  deleteUser(username: string, options?: Ending): Promise<void>;
  /**
   * Sets the profiles of a user in a namespace. One of elsewhere who is not in it yet is invited, and accepts by entering it.
   * @param isConsented the user has asked for it: it is in force at once
   */
  authorizeUser(username: string, namespace: string, profiles: string[], consent?: { isConsented?: boolean; along?: Along }): Promise<void>;
  /** @returns a code that one user can redeem until it expires */
  invite(invitation: NewInvitation, along?: Along): Promise<string>;
  /** What a code offers; null when it is used, expired or none, or when who invited no longer administers the namespace. */
  invitation(code: string): Promise<{ namespace: string; profiles: string[] } | null>;
  /** The user has what the code offers. @throws resource.not.found */
  redeem(code: string, username: string, along?: Along): Promise<void>;
  /** @param to gets the user's tokens in the namespace, each for what it could do; absent: they are deleted */
  revokeAuthorization(username: string, namespace: string, options?: { to?: string; along?: Along }): Promise<void>;
  /** A long-lived token (4.12). @returns the token, which is not kept. */
  createAccessToken(token: NewAccessToken, along?: Along): Promise<string>;
  /** A long-lived token of the user, by its `_id`, and the sessions made from it. @returns whether there was one */
  deleteAccessToken(id: string, username: string, options?: Ending): Promise<boolean>;
}

/** What a deletion is held to, and what is stored along with it. */
export interface Ending {
  /** The expected version; another one is a conflict (update.authorization.or.version.conflict). */
  readonly version?: bigint | undefined;
  readonly along?: Along;
}

/** Who asks, for one namespace (resources-and-api.md 6 and 7.2). */
export interface Identity {
  /** Lower case. */
  username: string;
  /** The namespace that the request acts in: the home namespace, or the target namespace when one was named. */
  namespace: string;
  /** One profile for the namespace and one for the system namespace, spelt `<profile>__system`. */
  profiles: string[];
  /** The system admin of the installation. */
  system?: boolean;
  /** The first admin of the installation in its home namespace, where it may also create namespaces with a new organization (6.8). */
  installationAdmin?: boolean;
  /** The token has profiles of its own: whatever is done with it, at once or later, is done under these, never under the user's. */
  restricted?: true;
  /** The profiles are a procedure's own, in place of those of who calls it (language.md P8). */
  lent?: true;
  /** What it makes for later, as a token, is for this namespace only: a token asks that is limited to it, or a program of the namespace. */
  bound?: true;
  /** The service itself, for whom there are no rights to ask about. */
  ofService?: true;
  /** `_id` of the token that came with the request; absent for code that runs without one. */
  token?: string;
  /** `_id` of the long-lived token that is asked with, itself or by a session made from it: what code does for it keeps it. */
  ofToken?: string;
}
