// What identity keeps in the installation's database, one interface a collection, and the indexes that make it true.
import { type Collection, type Db, type MongoClient, ObjectId } from 'mongodb';
import type { TokenKind } from './tokens.ts';

export const USER_DETAILS = ['email', 'preferredUsername', 'firstName', 'lastName'] as const;
export type UserDetail = (typeof USER_DETAILS)[number];

/** What is known of every change after the first: counted from 1. */
export interface Changes {
  version?: number;
  modifiedAt?: Date;
  modifiedBy?: string;
}

/** What all resources of the installation have (1.3). */
export interface Tagged extends Changes {
  /** `ars_properties`, as JSON. */
  properties?: string;
}

/** Which of the two a long-lived token is called by its creator; it expires by `expiresAt` alone. */
export const TOKEN_TYPES = ['permanent', 'temporary'] as const;
export type TokenType = (typeof TOKEN_TYPES)[number];

export interface Authorization {
  namespace: string;
  profiles: string[];
  /** An admin of the namespace offers it: it is in force once the user has entered the namespace. */
  invited?: true;
}

export interface UserDocument extends Tagged {
  _id: ObjectId;
  /** Lower case, unique in the installation. */
  username: string;
  /** `hashPassword`'s. */
  password: string;
  /** Counts the changes of the password: a session of another version is over. */
  passwordVersion: number;
  /** The home namespace. */
  namespace: string;
  /** In the home namespace. */
  profiles: string[];
  /** Other namespaces that the user may enter (4.9). */
  authorizations: Authorization[];
  active: boolean;
  preferredUsername?: string;
  email?: string;
  firstName?: string;
  lastName?: string;
  lastLogin?: Date;
  /** The system admin, and the first admin of the installation (6.8). */
  system?: boolean;
  installationAdmin?: boolean;
  createdAt: Date;
  createdBy: string;
}

export interface TokenDocument extends Tagged {
  _id: ObjectId;
  /** `hashToken`'s: the token itself is not kept. */
  hash: string;
  kind: TokenKind;
  userId: ObjectId;
  username: string;
  /** The user's when the token was made. */
  passwordVersion: number;
  namespace: string;
  /** Null: those of the user, as they are when asked for. */
  profiles: string[] | null;
  /** The long-lived token that this session came from: they end together. */
  origin: ObjectId | null;
  /** The sessions that this one was made from, one from the other, the first login first: it ends with each of them that is revoked. */
  ancestors?: ObjectId[];
  /** When the login was, however often it was renewed. */
  loggedInAt?: Date;
  /** A personal token for its own namespace only. */
  singleNamespace?: true;
  /** Of a long-lived token, unique per creator. */
  name?: string;
  /** Absent: permanent. */
  tokenType?: TokenType;
  /** To the minute; absent: never. */
  lastUsedAt?: Date;
  createdAt: Date;
  /** Null: never. */
  expiresAt: Date | null;
}

export interface NamespaceDocument extends Tagged {
  _id: ObjectId;
  namespace: string;
  organization: string | null;
  createdAt: Date;
  createdBy: string;
  /** Written by each change that takes an admin away: of several at once one waits for the other. */
  adminChanges?: number;
}

/** An invitation that is not addressed to anybody: a user with its code may redeem it, once (4.9). */
export interface InvitationDocument {
  _id: ObjectId;
  /** `hashToken`'s: the code itself is not kept. */
  hash: string;
  namespace: string;
  profiles: string[];
  /** Who invites: the invitation is void once this user no longer administers the namespace. */
  createdBy: string;
  createdAt: Date;
  expiresAt: Date;
}

export interface OrganizationDocument extends Tagged {
  _id: ObjectId;
  name: string;
  description?: string;
  /** JSON. */
  quota?: string;
  /** The root namespace. */
  namespace: string;
  /** When its last namespace was made: a removal of the organization that comes at the same time meets this write. */
  usedAt?: Date;
  createdAt: Date;
  createdBy: string;
}

/** One document, `_id` `firstStart`: who is doing or has done it. */
export interface InstallationDocument {
  _id: 'firstStart';
  state: 'running' | 'done';
  startedAt: Date;
}

export interface IdentityCollections {
  client: MongoClient;
  users: Collection<UserDocument>;
  tokens: Collection<TokenDocument>;
  namespaces: Collection<NamespaceDocument>;
  organizations: Collection<OrganizationDocument>;
  invitations: Collection<InvitationDocument>;
  installation: Collection<InstallationDocument>;
  /** By the names of namespaces that were deleted and whose data may still be there. */
  deleted: Collection<{ _id: string }>;
  keys: Collection<{ _id: string }>;
}

export const collectionsOf = (db: Db): IdentityCollections => ({
  client: db.client,
  users: db.collection('users'),
  tokens: db.collection('tokens'),
  namespaces: db.collection('namespaces'),
  organizations: db.collection('organizations'),
  invitations: db.collection('invitations'),
  installation: db.collection('installation'),
  deleted: db.collection('deletedNamespaces'),
  keys: db.collection('encryptionKeys'),
});

/** Idempotent. Expired tokens are removed by the database within a minute or so; `verify` does not wait for that. */
export async function ensureIndexes({ users, tokens, namespaces, organizations, invitations }: IdentityCollections): Promise<void> {
  await Promise.all([
    // The database keeps no two databases whose names differ in case only. Where two such namespaces are there already, they stay.
    namespaces
      .createIndex({ namespace: 1 }, { unique: true, name: 'anyCase', collation: { locale: 'en', strength: 2 } })
      .catch(unlessDuplicate),
    users.createIndex({ username: 1 }, { unique: true }),
    users.createIndex({ namespace: 1 }),
    tokens.createIndex({ hash: 1 }, { unique: true }),
    tokens.createIndex({ username: 1, name: 1 }, { unique: true, partialFilterExpression: { name: { $exists: true } } }),
    tokens.createIndex({ userId: 1 }),
    // Most sessions have none. By a `$type` in place of the comparison the database does not see that it can use the index.
    tokens.createIndex({ origin: 1 }, { partialFilterExpression: { origin: { $gte: new ObjectId('0'.repeat(24)) } } }),
    tokens.createIndex({ ancestors: 1 }),
    tokens.createIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 }),
    namespaces.createIndex({ namespace: 1 }, { unique: true }),
    organizations.createIndex({ name: 1 }, { unique: true }),
    invitations.createIndex({ hash: 1 }, { unique: true }),
    invitations.createIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 }),
  ]);
}

function unlessDuplicate(error: unknown): void {
  if (!isDuplicateKey(error)) throw error;
}

export const isDuplicateKey = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 11000;
