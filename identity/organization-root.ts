// Which namespace is the root of an organization: one of its own. A deleted root leaves its name to whoever takes it, and the organization stays.
import type { ClientSession } from 'mongodb';
import type { IdentityCollections } from './documents.ts';

/** The name of the organization whose root the namespace is; null: of none. */
export async function organizationWithRoot(
  { namespaces, organizations }: Pick<IdentityCollections, 'namespaces' | 'organizations'>,
  namespace: string,
  session?: ClientSession,
): Promise<string | null> {
  const own = (await namespaces.findOne({ namespace }, { session }))?.organization ?? null;
  return own !== null && (await organizations.findOne({ name: own, namespace }, { session })) ? own : null;
}
