// Custom commands (resources-and-api.md 2.13): a POST on one instance whose body names what is to be done.

import { ObjectId } from 'mongodb';
import { decodeInner, getOwn } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/actor.ts';
import type { ApiReply, ApiRequest } from '../api.ts';
import { type StoredEvent, VersionMiss, type Write } from '../../runtime/transactions/index.ts';
import { duplicateDocument } from '../../features/documents/index.ts';
import { deployByCommand } from '../../features/deployment/deployment.ts';
import { fault } from '../../model/errors/faults.ts';
import { objectOf, requireAdmin, textIn } from '../../features/accounts/rights.ts';
import { toJson } from '../../model/values/index.ts';
import { readDeadLetter } from '../../features/delivery/dead-letters.ts';
import { findRecording } from '../../features/diagnostics/recordings.ts';
import { why } from '../../features/rules/why.ts';
import { DEAD_LETTERS } from '../../features/delivery/delivery-types.ts';
import { definitionJson } from '../definitions/operations.ts';
import { renameType } from '../../features/types/rename-type.ts';
import { TYPES } from '../../features/types/types-kind.ts';
import type { Namespace, Resource } from '../catalog/types.ts';
import { NO_CONTENT, reply } from './request.ts';

type Command = (space: Namespace, id: string, request: ApiRequest, actor: Actor) => Promise<ApiReply>;

/** Delivers a dead letter once more (integrations.md 12.4). */
async function retry(space: Namespace, id: string, actor: Actor): Promise<ApiReply> {
  requireAdmin(actor.identity, 'retry', DEAD_LETTERS.name);
  const _id = /^[0-9a-f]{24}$/.test(id) ? ObjectId.createFromHexString(id) : null;
  const dead = _id && (await readDeadLetter(space, _id));
  const gone = () => fault('cascade.resource.not.found', `/deadletters/${id}`);
  if (!_id || !dead) throw gone();
  if (!dead.kept) throw fault('cascade.resource.too.large', 0);
  const event: StoredEvent = { ...dead.kept, chain: { root: dead.kept.uuid, depth: 0 }, runs: [], attempt: dead.deliveries + 1 };
  const again = space.deliveries.retry(event, dead.target);
  if (!again) throw fault('cascade.resource.not.found', dead.target);
  const removal: Write = { collection: DEAD_LETTERS.collection, op: 'delete', id: _id, version: dead.version };
  try {
    await actor.commit({ writes: [removal, ...again.writes], events: again.events }, { ok: 'null' });
  } catch (error) {
    throw error instanceof VersionMiss ? gone() : error; // another has retried or deleted it
  }
  await space.deliveries.look();
  return NO_CONTENT;
}

/** Brings a configuration to its nodes, or away from them (4.20). Data: `globalId` of a deployment, `errorsOnly`. */
const deployment =
  (operation: 'deploy' | 'undeploy'): Command =>
  async (space, id, { object }, actor) => {
    const data = objectOf(object ?? null);
    const globalId = textIn('configurations', data, 'globalId');
    const errorsOnly = Object.hasOwn(data, 'errorsOnly') ? getOwn(data, 'errorsOnly') : false;
    if (typeof errorsOnly !== 'boolean') throw fault('cascade.resource.property.invalid', 'configurations', 'errorsOnly', 'no Boolean');
    const answer = await deployByCommand(space, id, operation, { globalId, errorsOnly }, actor);
    return reply(toJson('ok' in answer ? decodeInner(answer.ok) : []));
  };

const COMMANDS: Readonly<Record<string, Readonly<Record<string, Command>>>> = {
  // Of all rules on the path with the id `*` (interface of `cascade why` and `cascade replay`).
  rules: {
    why: async (space, id, { object }, actor) => {
      requireAdmin(actor.identity, 'why', 'rules');
      return reply(toJson(await why(space, id === '*' ? null : id, object ?? null)));
    },
    recording: async (space, id, _request, actor) => {
      requireAdmin(actor.identity, 'recording', 'rules');
      const found = await findRecording(space, id);
      if (!found) throw fault('cascade.resource.not.found', `/recordings/${id}`);
      return reply(JSON.stringify({ ...found, _id: undefined, ars_version: undefined }));
    },
  },
  configurations: { deploy: deployment('deploy'), undeploy: deployment('undeploy') },
  documents: { duplicate: duplicateDocument },
  deadletters: { retry: (space, id, _request, actor) => retry(space, id, actor) },
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
