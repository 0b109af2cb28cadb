// The end of a namespace (resources-and-api.md 4.9): everything that the installation has of it, in one transaction. Its data are dropped afterwards;
// until that is done its name stays taken, also over a crash.
import type { ClientSession } from 'mongodb';
import { inTransaction, requireVersion } from './accounts.ts';
import { apiError } from '../model/errors/index.ts';
import type { IdentityCollections } from './documents.ts';
import { organizationWithRoot } from './organization-root.ts';
import type { Ending } from './types.ts';

/**
 * @throws resource.not.found, update.authorization.or.version.conflict, organization.in.use: it is the root of an organization with other
 *   namespaces
 */
export async function deleteNamespace(collections: IdentityCollections, namespace: string, { version, along }: Ending = {}): Promise<void> {
  const { client, users, tokens, namespaces, invitations, deleted, keys } = collections;
  await inTransaction(client, async (session) => {
    await requireNoOthers(collections, namespace, session);
    const gone = await namespaces.findOneAndDelete({ namespace }, { session });
    if (!gone) throw apiError('cascade.resource.not.found', `/namespaces/${namespace}`);
    requireVersion(`/namespaces/${namespace}`, gone, version);
    const homed = await users.find({ namespace }, { session, projection: { _id: 1 } }).toArray();
    await tokens.deleteMany({ $or: [{ namespace }, { userId: { $in: homed.map(({ _id }) => _id) } }] }, { session });
    await users.deleteMany({ namespace }, { session });
    await users.updateMany({ 'authorizations.namespace': namespace }, { $pull: { authorizations: { namespace } } }, { session });
    await invitations.deleteMany({ namespace }, { session });
    await keys.deleteOne({ _id: namespace }, { session });
    await deleted.insertOne({ _id: namespace }, { session });
    await along?.(session, gone._id.toHexString());
  });
}

/** What may refuse the deletion, looked at before what goes before it. @throws as `deleteNamespace` */
export async function requireDeletable(collections: IdentityCollections, namespace: string, version: Ending['version']): Promise<void> {
  await requireNoOthers(collections, namespace);
  const found = await collections.namespaces.findOne({ namespace });
  if (!found) throw apiError('cascade.resource.not.found', `/namespaces/${namespace}`);
  requireVersion(`/namespaces/${namespace}`, found, version);
}

/** The root of an organization stays as long as that has other namespaces. @throws organization.in.use */
async function requireNoOthers(collections: IdentityCollections, namespace: string, session?: ClientSession): Promise<void> {
  const root = await organizationWithRoot(collections, namespace, session);
  const other = root && (await collections.namespaces.findOne({ organization: root, namespace: { $ne: namespace } }, { session }));
  if (other) throw apiError('cascade.organization.in.use', root, other.namespace);
}

/** A name is free again when nothing is left of who had it. @throws resource.duplicate.key */
export async function requireDropped({ deleted }: IdentityCollections, namespace: string, session: ClientSession): Promise<void> {
  const left = await deleted.findOne({ _id: namespace }, { session, collation: { locale: 'en', strength: 2 } });
  if (left) throw apiError('cascade.resource.duplicate.key', 'namespaces', `namespace=${namespace}`);
}
