// What identity keeps in the installation's database, one interface a collection, and the indexes that make it true.
import type { Collection, Db, ObjectId } from 'mongodb';
import type { TokenKind } from './tokens.ts';

export interface UserDocument {
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
  authorizations: { namespace: string; profiles: string[] }[];
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

export interface TokenDocument {
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
  /** Of a long-lived token, unique per creator. */
  name?: string;
  createdAt: Date;
  /** Null: never. */
  expiresAt: Date | null;
}

export interface NamespaceDocument {
  _id: ObjectId;
  namespace: string;
  organization: string | null;
  createdAt: Date;
  createdBy: string;
}

export interface OrganizationDocument {
  _id: ObjectId;
  name: string;
  /** The root namespace. */
  namespace: string;
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
  users: Collection<UserDocument>;
  tokens: Collection<TokenDocument>;
  namespaces: Collection<NamespaceDocument>;
  organizations: Collection<OrganizationDocument>;
  installation: Collection<InstallationDocument>;
}

export const collectionsOf = (db: Db): IdentityCollections => ({
  users: db.collection('users'),
  tokens: db.collection('tokens'),
  namespaces: db.collection('namespaces'),
  organizations: db.collection('organizations'),
  installation: db.collection('installation'),
});

/** Idempotent. Expired tokens are removed by the database within a minute or so; `verify` does not wait for that. */
export async function ensureIndexes({ users, tokens, namespaces, organizations }: IdentityCollections): Promise<void> {
  await Promise.all([
    users.createIndex({ username: 1 }, { unique: true }),
    users.createIndex({ namespace: 1 }),
    tokens.createIndex({ hash: 1 }, { unique: true }),
    tokens.createIndex({ username: 1, name: 1 }, { unique: true, partialFilterExpression: { name: { $exists: true } } }),
    tokens.createIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 }),
    namespaces.createIndex({ namespace: 1 }, { unique: true }),
    organizations.createIndex({ name: 1 }, { unique: true }),
  ]);
}

export const isDuplicateKey = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 11000;
