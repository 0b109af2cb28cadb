// Custom commands (resources-and-api.md 2.13): a POST on one instance whose body names what is to be done.

import type { Actor } from '../../actor.ts';
import type { ApiReply, ApiRequest } from '../../api.ts';
import { fault } from '../../faults.ts';
import { definitionJson } from '../definitions/operations.ts';
import { renameType } from '../definitions/rename-type.ts';
import { TYPES } from '../definitions/types-kind.ts';
import type { Namespace, Resource } from '../types.ts';
import { reply } from './request.ts';

type Command = (space: Namespace, id: string, request: ApiRequest, actor: Actor) => Promise<ApiReply>;

const COMMANDS: Readonly<Record<string, Readonly<Record<string, Command>>>> = {
  types: {
    rename: async (space, id, { object }, actor) => reply(definitionJson(await renameType(space, TYPES, id, object, actor))),
  },
};

/** The commands of a resource, by name. */
export const commandsOf = (resource: string): string[] => Object.keys(Object.hasOwn(COMMANDS, resource) ? (COMMANDS[resource] ?? {}) : {});

export async function command(space: Namespace, resource: Resource, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  const known = Object.hasOwn(COMMANDS, resource.name) ? COMMANDS[resource.name] : undefined;
  const carryOut = known && Object.hasOwn(known, request.op) ? known[request.op] : undefined;
  if (!carryOut || request.resourceId === undefined) throw fault('cascade.operation.unknown', request.op);
  return carryOut(space, request.resourceId, request, actor);
}
