// What the resources users, tokens and namespaces show and change (resources-and-api.md 4.9, 4.11, 4.12). Nothing secret leaves here: the
// records are built member by member.
import { type Db, type Filter, ObjectId } from 'mongodb';
import { changedNow, inTransaction, isInvited, normalName, profilesOf, refusingDuplicates, requireVersion } from './accounts.ts';
import {
  collectionsOf,
  type Tagged,
  type TokenDocument,
  type TokenType,
  USER_DETAILS,
  type UserDetail,
  type UserDocument,
} from './documents.ts';
import { apiError } from '../model/errors/index.ts';
import { organizationWithRoot } from './organization-root.ts';
import { generatePassword } from './passwords.ts';
import { hashToken } from './tokens.ts';
import type { Along } from './types.ts';

interface Made {
  readonly _id: string;
  /** 1 when it is made, and one more with every change. */
  readonly version: number;
  readonly createdAt: Date;
  readonly createdBy: string;
  /** Null until it is changed for the first time. */
  readonly modifiedAt: Date | null;
  readonly modifiedBy: string | null;
  /** `ars_properties`, as JSON; null: none. */
  readonly properties: string | null;
}

export interface UserRecord extends Made {
  readonly username: string;
  /** In the namespace that was asked about. */
  readonly profiles: string[];
  readonly home: string;
  /** Not yet in force: the user has not entered the namespace. */
  readonly isInvited: boolean;
  /** The system admin, who has its rights in every namespace. */
  readonly isSystem: boolean;
  /** The system admin, or the first admin of the installation: more than any namespace's admin. */
  readonly isInstallations: boolean;
  readonly active: boolean;
  readonly lastLogin: Date | null;
  readonly details: Readonly<Partial<Record<UserDetail, string>>>;
}
export interface TokenRecord extends Made {
  readonly name: string;
  readonly username: string;
  readonly profiles: string[];
  readonly singleNamespace: boolean;
  readonly tokenType: TokenType;
  /** To the minute. */
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
}

export interface NamespaceRecord extends Made {
  readonly namespace: string;
  readonly organization: string | null;
}

export interface OrganizationRecord extends Made {
  readonly name: string;
  readonly description: string | null;
  /** The root namespace. */
  readonly namespace: string;
  /** JSON. */
  readonly quota: string;
}

/** By whom something is changed, from which version (absent: any), and what is stored along. */
export interface How {
  readonly by: string;
  readonly version?: bigint | undefined;
  readonly along?: Along;
}

export interface OrganizationChange {
  readonly description?: string | null;
  readonly quota?: string;
  readonly properties?: string | null;
}

export interface Directory {
  /** That of a namespace, if it has one; of null: all. */
  organizations(namespace: string | null): Promise<OrganizationRecord[]>;
  /** The name of the organization whose root a namespace is; null: of none. */
  organizationWithRoot(namespace: string): Promise<string | null>;
  /** What the organization of a namespace was given, and its namespaces; null: it has none. */
  quotaOf(namespace: string): Promise<{ organization: string; quota: string; namespaces: string[] } | null>;
  /** Users at home in these namespaces. */
  countUsers(namespaces: readonly string[]): Promise<number>;
  /** Sessions in these namespaces that have not ended. */
  countSessions(namespaces: readonly string[]): Promise<number>;
  /** @param change `quota` and `properties` are JSON */
  changeOrganization(name: string, change: OrganizationChange, how: How): Promise<void>;
  /** @throws organization.in.use while a namespace is its */
  removeOrganization(name: string, version?: bigint): Promise<void>;
  /** @param properties JSON; null: none */
  setNamespaceProperties(namespace: string, properties: string | null, how: How): Promise<void>;
  /** Users at home in the namespace, authorized or invited there; of null: all of the installation, each as it is at home. */
  users(namespace: string | null): Promise<UserRecord[]>;
  /** A user as it is in a namespace, or of null at home; null when there is no such user. */
  user(username: string, namespace: string | null): Promise<UserRecord | null>;
  /** Whether there is such a user at home in the namespace, or authorized or invited there: nothing is told of others. */
  isOf(username: string, namespace: string): Promise<boolean>;
  /** Long-lived tokens of the namespace. */
  tokens(namespace: string): Promise<TokenRecord[]>;
  /** The `_id` of the long-lived token with this text; null when there is none. */
  tokenWith(text: string, namespace: string): Promise<string | null>;
  /** @throws resource.duplicate.key: its creator has another one of that name */
  renameToken(id: string, name: string, how: How): Promise<void>;
  /** Those that the user may enter, and those of an organization; all for the system admin. */
  namespaces(username: string, all: boolean, organization?: string | null): Promise<NamespaceRecord[]>;
  /** Null when there is no such user. */
  detailsOf(username: string): Promise<UserRecord['details'] | null>;
  hasNamespace(name: string): Promise<boolean>;
  generatePassword(): string;
}

/** @param db the installation's */
// oxlint-disable-next-line max-lines-per-function -- an object of short methods over one store
export function openDirectory(db: Db): Directory {
  const collections = collectionsOf(db);
  const { users, tokens, namespaces, organizations } = collections;
  return {
    async users(namespace) {
      const found = await users
        .find(namespace === null ? {} : ofNamespace(namespace))
        .sort({ _id: 1 })
        .toArray();
      return found.map((user) => userRecord(user, namespace ?? user.namespace));
    },
    async user(username, namespace) {
      const user = await users.findOne({ username: normalName(username) });
      return user && userRecord(user, namespace ?? user.namespace);
    },
    async isOf(username, namespace) {
      const filter = { username: normalName(username), ...ofNamespace(namespace) };
      return (await users.findOne(filter, { projection: { _id: 1 } })) !== null;
    },
    async tokens(namespace) {
      const found = await tokens.find({ kind: 'permanent', namespace }).sort({ _id: 1 }).toArray();
      return found.map(tokenRecord);
    },
    async tokenWith(text, namespace) {
      const found = await tokens.findOne({ kind: 'permanent', namespace, hash: hashToken(text) }, { projection: { _id: 1 } });
      return found && found._id.toHexString();
    },
    async renameToken(id, name, { by, version, along }) {
      const one = { _id: ObjectId.createFromHexString(id), kind: 'permanent' as const };
      const $set = { name: { $literal: name }, ...changedNow(new Date(), by) };
      await inTransaction(db.client, async (session) => {
        const before = await tokens.findOne(one, { session });
        if (!before) throw apiError('cascade.resource.not.found', `/tokens/${id}`);
        requireVersion(`/tokens/${id}`, before, version);
        await refusingDuplicates('tokens', `name=${name}`, () => tokens.updateOne(one, [{ $set }], { session }));
        await along?.(session, id);
      });
    },
    async namespaces(username, all, organization = null) {
      const user = all ? null : await users.findOne({ username });
      const own = user ? [user.namespace, ...user.authorizations.map(({ namespace }) => namespace)] : [];
      const found = await namespaces
        .find(all ? {} : { $or: [{ namespace: { $in: own } }, ...(organization === null ? [] : [{ organization }])] })
        .sort({ _id: 1 })
        .toArray();
      return found.map((one) => ({
        ...made(one),
        namespace: one.namespace,
        organization: one.organization,
      }));
    },
    async setNamespaceProperties(namespace, properties, { by, version, along }) {
      const $set = { properties: properties === null ? '$$REMOVE' : { $literal: properties }, ...changedNow(new Date(), by) };
      await inTransaction(db.client, async (session) => {
        const found = await namespaces.findOneAndUpdate({ namespace }, [{ $set }], { session });
        if (!found) throw apiError('cascade.resource.not.found', `/namespaces/${namespace}`);
        requireVersion(`/namespaces/${namespace}`, found, version);
        await along?.(session, found._id.toHexString());
      });
    },
    async organizations(namespace) {
      const of = namespace === null ? null : ((await namespaces.findOne({ namespace }))?.organization ?? null);
      if (namespace !== null && of === null) return [];
      const found = await organizations
        .find(of === null ? {} : { name: of })
        .sort({ _id: 1 })
        .toArray();
      return found.map((one) => ({
        ...made(one),
        name: one.name,
        description: one.description ?? null,
        namespace: one.namespace,
        quota: one.quota ?? '{}',
      }));
    },
    organizationWithRoot: (namespace) => organizationWithRoot(collections, namespace),
    async quotaOf(namespace) {
      const name = (await namespaces.findOne({ namespace }))?.organization;
      const found = name ? await organizations.findOne({ name }) : null;
      if (!found) return null;
      const own = await namespaces.find({ organization: found.name }).toArray();
      return { organization: found.name, quota: found.quota ?? '{}', namespaces: own.map((one) => one.namespace) };
    },
    countUsers: (homes) => users.countDocuments({ namespace: { $in: [...homes] } }),
    countSessions: (all) => tokens.countDocuments({ kind: 'session', namespace: { $in: [...all] }, expiresAt: { $gt: new Date() } }),
    async changeOrganization(name, change, { by, version }) {
      const given = Object.entries(change).map(([member, value]) => [member, value === null ? '$$REMOVE' : { $literal: value }]);
      const $set = { ...Object.fromEntries(given), ...changedNow(new Date(), by) };
      await inTransaction(db.client, async (session) => {
        const found = await organizations.findOneAndUpdate({ name }, [{ $set }], { session });
        if (!found) throw apiError('cascade.resource.not.found', `/organizations/${name}`);
        requireVersion(`/organizations/${name}`, found, version);
      });
    },
    async removeOrganization(name, version) {
      await inTransaction(db.client, async (session) => {
        const used = await namespaces.findOne({ organization: name }, { session });
        if (used) throw apiError('cascade.organization.in.use', name, used.namespace);
        const gone = await organizations.findOneAndDelete({ name }, { session });
        if (gone) requireVersion(`/organizations/${name}`, gone, version);
      });
    },
    hasNamespace: async (name) => (await namespaces.findOne({ namespace: name }, { projection: { _id: 1 } })) !== null,
    async detailsOf(username) {
      const user = await users.findOne({ username });
      return user && userDetails(user);
    },
    generatePassword,
  };
}

const made = ({
  _id,
  createdAt,
  createdBy,
  version = 1,
  modifiedAt = createdAt,
  modifiedBy,
  properties,
}: { _id: ObjectId; createdAt: Date; createdBy: string } & Tagged): Made => ({
  _id: _id.toHexString(),
  version,
  createdAt,
  createdBy,
  modifiedAt: version > 1 ? modifiedAt : null,
  modifiedBy: modifiedBy ?? null,
  properties: properties ?? null,
});

/** Users at home, authorized or invited there. */
const ofNamespace = (namespace: string): { $or: Filter<UserDocument>[] } => ({
  $or: [{ namespace }, { 'authorizations.namespace': namespace }],
});

function userRecord(user: UserDocument, namespace: string): UserRecord {
  return {
    ...made(user),
    username: user.username,
    profiles: profilesOf(user, namespace),
    home: user.namespace,
    isInvited: isInvited(user, namespace),
    isSystem: user.system === true,
    isInstallations: user.system === true || user.installationAdmin === true,
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
  singleNamespace: token.singleNamespace === true,
  tokenType: token.tokenType ?? 'permanent',
  lastUsedAt: token.lastUsedAt ?? null,
  expiresAt: token.expiresAt,
});
