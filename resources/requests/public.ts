// Requests without a login (resources-and-api.md 1.1): they reach instances of system resources whose owner has set `ars_public`.

import { CascadeError } from '../../stdlib/errors.ts';
import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { MaybePromise } from '../../platform/structures/index.ts';
import type { ApiRequest } from '../api.ts';
import { apiError } from '../../model/errors/index.ts';
import { SYSTEM_RESOURCES } from '../../model/types/index.ts';
import { resolve, type Namespace } from '../catalog/index.ts';
import { readAt } from '../instances/index.ts';

/**
 * @throws cascade.resource.not.found, at once or later, for everything that is not public, existing or not: strangers learn nothing
 */
export function requirePublic(space: Namespace, request: ApiRequest, actor: Actor): MaybePromise<void> {
  const found = instanceAt(space, request, actor);
  if (found instanceof Promise) return found.then((stored) => requireOpen(space, request, stored));
  requireOpen(space, request, found);
}

function requireOpen(space: Namespace, { resourceName, resourceId }: ApiRequest, stored: ObjectValue | null): void {
  if (stored && Object.hasOwn(stored, 'ars_public') && getOwn(stored, 'ars_public') === true) return;
  throw apiError('cascade.resource.not.found', `/public/${space.name}/${resourceName}/${resourceId ?? ''}`);
}

/** The stored instance of a system resource; null for any other address, and where there is none. */
function instanceAt(space: Namespace, { resourceName, resourceId }: ApiRequest, actor: Actor): MaybePromise<ObjectValue | null> {
  if (resourceId === undefined || !SYSTEM_RESOURCES.has(resourceName)) return null;
  try {
    const resource = resolve(space, resourceName, false);
    if (resource.kind === 'definitions') return space.catalog.definitions.find(resourceName, resourceId)?.object ?? null;
    return readAt(space, resource, resourceId, actor).catch(nothing);
  } catch (error) {
    return nothing(error);
  }
}

/** An unknown resource, or one that nobody else may read, gives the same answer, so that nothing is disclosed. */
function nothing(error: unknown): null {
  if (error instanceof CascadeError) return null;
  throw error;
}
