// Custom commands (resources-and-api.md 2.13): a POST on one instance whose body names the command.

import { apiError } from '../../model/errors/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { ApiReply, ApiRequest } from '../api.ts';
import type { Namespace, Resource } from '../catalog/index.ts';
import { idOf } from './request.ts';

/** The commands of a resource, by name. */
export const commandsOf = (space: Namespace, resource: string): string[] => Object.keys(space.catalog.features.commandsOf(resource));

export async function command(space: Namespace, resource: Resource, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  const known = space.catalog.features.commandsOf(resource.name);
  const carryOut = Object.hasOwn(known, request.op) ? known[request.op] : undefined;
  if (!carryOut) throw apiError('cascade.operation.unknown', request.op);
  const id = idOf(request);
  return carryOut(space, resource.kind === 'definitions' ? space.catalog.definitions.nameAt(resource.name, id) : id, request, actor);
}
