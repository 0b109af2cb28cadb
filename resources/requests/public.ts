// Requests without a login (resources-and-api.md 1.1): they reach instances of system resources whose owner has set `ars_public`.

import { getOwn } from '../../stdlib/values/index.ts';
import type { ApiRequest } from '../api.ts';
import { apiError } from '../../model/errors/index.ts';
import { resolve, type Namespace } from '../catalog/index.ts';

/** @throws cascade.resource.not.found for everything that is not public, existing or not: strangers learn nothing */
export function requirePublic(space: Namespace, { resourceName, resourceId }: ApiRequest): void {
  const found =
    resourceId !== undefined && isSystemResource(space, resourceName)
      ? space.catalog.definitions.find(resourceName, resourceId)
      : undefined;
  if (found && getOwn(found.object, 'ars_public') === true) return;
  throw apiError('cascade.resource.not.found', `/public/${space.name}/${resourceName}/${resourceId ?? ''}`);
}

function isSystemResource(space: Namespace, name: string): boolean {
  try {
    return resolve(space, name, false).kind === 'definitions';
  } catch {
    return false; // an unknown resource gives the same answer, so that nothing is disclosed
  }
}
