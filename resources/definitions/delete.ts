// Deletes definitions: what may refuse it comes first, then what has to go before, then the commit that takes it out of force.

import { type Actor, serviceActor } from '../../runtime/context/index.ts';
import type { ObjectValue } from '../../stdlib/values/index.ts';
import { raise } from '../../runtime/events/index.ts';
import type { UnitOfWork } from '../../runtime/transactions/index.ts';
import { accompanied, admit } from '../access/index.ts';
import { type DefinitionResource, definitionRemoval, type Namespace } from '../catalog/index.ts';
import { changedInTurn, goingAlong } from '../instances/index.ts';
import { following } from './follow.ts';
import { findDefinition, lineOf, requireVersion, visible } from './operations.ts';

/** Kinds whose events may be reliable: stored until they are acknowledged. */
const RELIABLE: ReadonlySet<string> = new Set(['topics', 'sources', 'services']);

interface Deletion {
  /** The expected one. */
  readonly version?: bigint | undefined;
  /** What is to go before the definition; null: nothing. */
  readonly before?: (stored: ObjectValue) => GoingBefore | null;
}

export interface GoingBefore {
  /** Its addresses. */
  readonly leaving: ReadonlySet<string>;
  /** Called once nothing refuses the deletion of the definition itself. */
  readonly leave: () => Promise<void>;
}

/** @throws cascade.resource.not.found, update.authorization.or.version.conflict, what its kind refuses */
export async function deleteDefinition(
  space: Namespace,
  kind: DefinitionResource,
  id: string,
  actor: Actor,
  deletion: Deletion = {},
): Promise<void> {
  const line = lineOf(kind, space.catalog.definitions.find(kind.name, id)?.name ?? id);
  return changedInTurn(
    space,
    () => line,
    () => deleteOnce(space, kind, id, actor, deletion),
  );
}

async function deleteOnce(
  space: Namespace,
  kind: DefinitionResource,
  id: string,
  actor: Actor,
  { version, before }: Deletion,
): Promise<void> {
  const { name, object } = findDefinition(space, kind, id, 'delete', actor);
  requireVersion(kind, name, object, version);
  const going = before?.(object);
  let removal = await kind.remove(space, object, actor, going?.leaving);
  await admit(space, deletionOf(kind, object, actor));
  const along = await goingAlong(space, kind, [object], actor);
  if (going) {
    await going.leave();
    removal = await kind.remove(space, object, actor); // others may use it since
  }
  await carryOut(space, kind, name, object, removal, along, actor);
}

/** Deletes a definition, if it is there, for the sake of another one: nobody needs a right for it. @throws what its kind refuses */
export const deleteAlong = (space: Namespace, kind: DefinitionResource, name: string, actor: Actor): Promise<void> =>
  changedInTurn(
    space,
    // Not the definition's own queue: who deletes the other one may be waited for there.
    () => `${lineOf(kind, name)} along`,
    async () => {
      const object = space.catalog.definitions.get(kind.name, name);
      if (!object) return;
      const removal = await kind.remove(space, object, serviceActor(space));
      await carryOut(space, kind, name, object, removal, await goingAlong(space, kind, [object], actor), actor);
    },
  );

const deletionOf = (resource: DefinitionResource, before: ObjectValue, initiator: Actor) =>
  ({ operation: 'delete', resource, before, after: null, initiator }) as const;

async function carryOut(
  space: Namespace,
  kind: DefinitionResource,
  name: string,
  object: ObjectValue,
  removal: Awaited<ReturnType<DefinitionResource['remove']>>,
  along: UnitOfWork,
  actor: Actor,
): Promise<void> {
  await removal.prepare?.(object);
  const events = raise(space, `/types/system.${kind.name}/delete`, visible(kind, object), actor);
  const writes = kind.isTransient?.(object) ? [] : [definitionRemoval(object)];
  const unit = { writes: [...writes, ...along.writes], events: [...events, ...along.events] };
  await following(space, [[kind.name, name]], actor.commit(accompanied(space, deletionOf(kind, object, actor), unit), { ok: '1' }));
  space.catalog.definitions.remove(kind.name, name);
  removal.apply(object);
  space.events.subscribers.gone(kind.name, name);
  space.events.deliveries.gone(kind.name, name);
  await removal.settle?.();
  if (RELIABLE.has(kind.name)) await space.events.deliveries.discard(kind.name, name);
}
