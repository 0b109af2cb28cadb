// A namespace with its organization and its first admin (resources-and-api.md 4.9): there as a whole, or not at all.
import { type ClientSession, ObjectId } from 'mongodb';
import { apiError } from '../model/errors/index.ts';
import { authorizing, normalName, refusingDuplicates, userDocument } from './accounts.ts';
import { requireDropped } from './delete-namespace.ts';
import type { IdentityCollections } from './documents.ts';
import type { PasswordHashing } from './hashing.ts';
import type { NewNamespace } from './types.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9_]{0,63}$/;
/** What the name of a database (63 bytes) leaves behind `cascade_ns_`. */
const LONGEST = 52;

/** @throws resource.name.invalid */
function requireName(name: string, longest: number): void {
  if (!NAME.test(name) || name.length > longest)
    throw apiError('cascade.resource.name.invalid', name, `letters, digits and _, at most ${longest}, not _ first`);
}

/**
 * All in one transaction: a refusal, like an end of this process, leaves nothing of it.
 * @param also what belongs to it elsewhere in the installation's database
 * @throws resource.name.invalid, user.name.invalid, user.password.weak, user.not.found, resource.duplicate.key
 */
export async function createNamespace(
  collections: IdentityCollections,
  hashing: PasswordHashing,
  { namespace, organization, within, admin, createdBy }: NewNamespace,
  now: Date,
  also: (session: ClientSession) => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  requireName(namespace, LONGEST);
  if (organization) requireName(organization.name, 64);
  // Before the transaction: it takes long.
  const user = admin && 'password' in admin ? await userDocument(hashing, { ...admin, namespace, createdBy }, now) : null;
  const { client, users, namespaces, organizations } = collections;
  const made = { createdAt: now, createdBy };
  await client.withSession((session) =>
    session.withTransaction(async () => {
      const entry = { _id: new ObjectId(), namespace, organization: organization?.name ?? within ?? null, ...made };
      await requireDropped(collections, namespace, session);
      // Written, so that it meets the organization's removal.
      const $set = { usedAt: now };
      if (within !== undefined && (await organizations.updateOne({ name: within }, { $set }, { session })).matchedCount === 0)
        throw apiError('cascade.resource.not.found', `/organizations/${within}`);
      await refusingDuplicates('namespaces', `namespace=${namespace}`, () => namespaces.insertOne(entry, { session }));
      if (organization) {
        const { name, description } = organization;
        const root = { _id: new ObjectId(), name, ...(description !== undefined && { description }), namespace, ...made };
        await refusingDuplicates('organizations', `name=${name}`, () => organizations.insertOne(root, { session }));
      }
      if (user) await refusingDuplicates('users', `username=${user.username}`, () => users.insertOne(user, { session }));
      else if (admin && 'isConsented' in admin) {
        const change = { namespace, profiles: admin.profiles, isConsented: admin.isConsented };
        const named = { username: normalName(admin.username) };
        const { matchedCount } = await users.updateOne(named, [{ $set: authorizing(change) }], { session });
        if (matchedCount === 0) throw apiError('cascade.user.not.found', admin.username);
      }
      await also(session);
    }),
  );
}
