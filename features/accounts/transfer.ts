// Transfers a user's objects when its access to a namespace is revoked with `transferResources` (resources-and-api.md 4.9): they pass to
// the admin who revokes it. Each change is a commit of its own, and repeating the command resumes it.
import type { ObjectId } from 'mongodb';
import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import { type Actor, serviceActor } from '../../runtime/context/index.ts';
import type { Identity } from '../../identity/index.ts';
import { resolve, type DefinitionResource, type InstanceResource, type Namespace } from '../../resources/catalog/index.ts';
import { changeDefinition, ignoreDeleted } from '../../resources/definitions/index.ts';
import { readById, updateOne } from '../../resources/instances/index.ts';

/** Access levels that depend on an instance's creator (7.3). */
const OWNER_LEVELS: ReadonlySet<string> = new Set(['ars_readByOwner', 'ars_writeByOwner']);

/**
 * Transfers rules, sources, documents, and instances of types with an access level for owners. The transaction that ends the
 * authorization transfers tokens (identity/revocation.ts); groups are left, and pass, at each revocation (features/groups).
 * @throws the error of a BEFORE rule that refuses the change of an instance
 */
export async function transferResources(space: Namespace, from: string, to: Identity): Promise<void> {
  const actor: Actor = { ...serviceActor(space), identity: { ...to, ofService: true }, takesOver: from };
  for (const kind of ['rules', 'sources'] as const) await transferDefinitions(space, kind, from, actor);
  for (const [name] of space.catalog.definitions.list('types')) {
    const resource = resolve(space, name, true) as InstanceResource;
    const { userAccessLevel, adminAccessLevel } = resource.type;
    if (OWNER_LEVELS.has(userAccessLevel) || OWNER_LEVELS.has(adminAccessLevel)) await transferInstances(space, resource, from, actor);
  }
  await transferInstances(space, resolve(space, 'documents', false) as InstanceResource, from, actor);
}

async function transferDefinitions(space: Namespace, name: 'rules' | 'sources', from: string, actor: Actor): Promise<void> {
  const kind = resolve(space, name, false) as DefinitionResource;
  const isFroms = (object: ObjectValue): boolean =>
    own(object, 'ars_createdBy') === from || (name === 'rules' && own(object, 'ars_modifiedBy') === from);
  for (const [id] of space.catalog.definitions.list(name).filter(([, object]) => isFroms(object)))
    await ignoreDeleted(changeDefinition(space, kind, id, {}, actor));
}

async function transferInstances(space: Namespace, resource: InstanceResource, from: string, actor: Actor): Promise<void> {
  const found = space.storage.db
    .collection<{ _id: ObjectId }>(resource.collection)
    .find({ ars_createdBy: from }, { projection: { _id: 1 } });
  for await (const { _id } of found)
    await ignoreDeleted(
      updateOne(
        space,
        resource,
        () => readById(space, resource, _id.toHexString(), actor),
        (stored) => stored,
        actor,
      ),
    );
}

const own = (object: ObjectValue, name: string) => (Object.hasOwn(object, name) ? getOwn(object, name) : null);
