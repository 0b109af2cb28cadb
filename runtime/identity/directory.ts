// What the resources users, tokens and namespaces show and change (resources-and-api.md 4.9, 4.11, 4.12). Nothing secret leaves here: the
// records are built member by member.
import { type Db, type Document, ObjectId } from 'mongodb';
import { profilesIn, refusingDuplicates, updateUser } from './accounts.ts';
import { collectionsOf, type TokenDocument, type UserDocument } from './documents.ts';
import { generatePassword } from './passwords.ts';
import { hashToken } from './tokens.ts';

interface Made {
  readonly _id: string;
  readonly createdAt: Date;
  readonly createdBy: string;
}

export interface UserRecord extends Made {
  readonly username: string;
  /** In the namespace that was asked about. */
  readonly profiles: string[];
  readonly home: string;
  readonly active: boolean;
  readonly lastLogin: Date | null;
  readonly details: Readonly<Partial<Record<UserDetail, string>>>;
}
export const USER_DETAILS = ['email', 'preferredUsername', 'firstName', 'lastName'] as const;
export type UserDetail = (typeof USER_DETAILS)[number];

export interface TokenRecord extends Made {
  readonly name: string;
  readonly username: string;
  readonly profiles: string[];
  readonly expiresAt: Date | null;
}

export interface NamespaceRecord extends Made {
  readonly namespace: string;
  readonly organization: string | null;
}

export interface Directory {
  /** Users at home in the namespace or authorized there, by name. */
  users(namespace: string): Promise<UserRecord[]>;
  /** Long-lived tokens of the namespace. */
  tokens(namespace: string): Promise<TokenRecord[]>;
  /** The `_id` of the long-lived token with this text; null when there is none. */
  tokenWith(text: string, namespace: string): Promise<string | null>;
  /** @throws resource.duplicate.key: its creator has another one of that name */
  renameToken(id: string, name: string): Promise<void>;
  /** Those that the user may enter; all for the system admin. */
  namespaces(username: string, all: boolean): Promise<NamespaceRecord[]>;
  exists(username: string): Promise<boolean>;
  /** Null when there is no such user. */
  detailsOf(username: string): Promise<UserRecord['details'] | null>;
  hasNamespace(name: string): Promise<boolean>;
  /** Null takes a detail away. @throws user.not.found */
  setDetails(username: string, details: Readonly<Partial<Record<UserDetail, string | null>>>): Promise<void>;
  generatePassword(): string;
}

/** @param db the installation's */
export function openDirectory(db: Db): Directory {
  const collections = collectionsOf(db);
  const { users, tokens, namespaces } = collections;
  return {
    async users(namespace) {
      const found = await users
        .find({ $or: [{ namespace }, { 'authorizations.namespace': namespace }] })
        .sort({ _id: 1 })
        .toArray();
      return found.map((user) => userRecord(user, namespace));
    },
    async tokens(namespace) {
      const found = await tokens.find({ kind: 'permanent', namespace }).sort({ _id: 1 }).toArray();
      return found.map(tokenRecord);
    },
    async tokenWith(text, namespace) {
      const found = await tokens.findOne({ kind: 'permanent', namespace, hash: hashToken(text) }, { projection: { _id: 1 } });
      return found && found._id.toHexString();
    },
    async renameToken(id, name) {
      const one = { _id: ObjectId.createFromHexString(id), kind: 'permanent' as const };
      await refusingDuplicates('tokens', `name=${name}`, () => tokens.updateOne(one, { $set: { name } }));
    },
    async namespaces(username, all) {
      const user = all ? null : await users.findOne({ username });
      const own = user ? [user.namespace, ...user.authorizations.map(({ namespace }) => namespace)] : [];
      const found = await namespaces
        .find(all ? {} : { namespace: { $in: own } })
        .sort({ _id: 1 })
        .toArray();
      return found.map((one) => ({ ...made(one), namespace: one.namespace, organization: one.organization }));
    },
    exists: async (username) => (await users.findOne({ username: username.toLowerCase() }, { projection: { _id: 1 } })) !== null,
    hasNamespace: async (name) => (await namespaces.findOne({ namespace: name }, { projection: { _id: 1 } })) !== null,
    async detailsOf(username) {
      const user = await users.findOne({ username });
      return user && userDetails(user);
    },
    async setDetails(username, details) {
      const $set: Document = {};
      const $unset: Document = {};
      for (const [name, value] of Object.entries(details))
        if (value === null) $unset[name] = '';
        else $set[name] = value;
      const change = { ...(Object.keys($set).length > 0 && { $set }), ...(Object.keys($unset).length > 0 && { $unset }) };
      if (Object.keys(change).length > 0) await updateUser(collections, username, change);
    },
    generatePassword,
  };
}

const made = ({ _id, createdAt, createdBy }: { _id: ObjectId; createdAt: Date; createdBy: string }): Made => ({
  _id: _id.toHexString(),
  createdAt,
  createdBy,
});

function userRecord(user: UserDocument, namespace: string): UserRecord {
  return {
    ...made(user),
    username: user.username,
    profiles: profilesIn(user, namespace) ?? [],
    home: user.namespace,
    active: user.active,
    lastLogin: user.lastLogin ?? null,
    details: userDetails(user),
  };
}

function userDetails(user: UserDocument): UserRecord['details'] {
  const details: Partial<Record<UserDetail, string>> = {};
  for (const name of USER_DETAILS) if (user[name] !== undefined) details[name] = user[name];
  return details;
}

const tokenRecord = (token: TokenDocument): TokenRecord => ({
  ...made({ ...token, createdBy: token.username }),
  name: token.name ?? '',
  username: token.username,
  profiles: token.profiles ?? [],
  expiresAt: token.expiresAt,
});
