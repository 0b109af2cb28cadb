// The requests of clients (resources-and-api.md 2): which operation of which resource, and the reply in REST's spelling.

import type { Actor } from '../../actor.ts';
import { type ApiReply, type ApiRequest, OPERATIONS } from '../../api.ts';
import { fault } from '../../faults.ts';
import { isAdmin, requireAdmin } from '../accounts/rights.ts';
import { accountResource, carryOutAccount } from '../accounts/index.ts';
import { INVITATIONS, redeemInvitation } from '../accounts/invitations.ts';
import { resolve } from '../catalogue.ts';
import { DEAD_LETTERS, SUBSCRIPTIONS } from '../delivery-types.ts';
import type { Namespace, Resource } from '../types.ts';
import { aggregate } from './aggregate.ts';
import { patch, remove, update } from './change.ts';
import { command } from './commands.ts';
import { refuseIllFormed } from './ill-formed.ts';
import { insert } from './insert.ts';
import { execute, publish, query } from './invoke.ts';
import { requirePublic } from './public.ts';
import { schema } from './schema.ts';
import { status } from './status.ts';
import { select } from './select.ts';

type CarryOut = (space: Namespace, resource: Resource, request: ApiRequest, actor: Actor) => Promise<ApiReply>;

const CARRIED_OUT: Readonly<Record<string, CarryOut>> = {
  select,
  insert: (space, resource, request, actor) => insert(space, resource, request, actor, request.parameters['upsert'] === true),
  upsert: (space, resource, request, actor) => insert(space, resource, request, actor, true),
  update,
  patch,
  delete: remove,
  aggregate,
  publish,
  query,
  schema,
  status,
  execute,
};

const GENERIC: ReadonlySet<string> = new Set(OPERATIONS);

/** Carries out a client's request. @throws CascadeError, CascadeErrors, at once or later */
export function carryOut(space: Namespace, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  if (request.publicOnly) requirePublic(space, request);
  if (request.illFormedAt !== undefined) refuseIllFormed(space, request, request.illFormedAt);
  if (request.resourceName === INVITATIONS && request.custom !== true) return redeemInvitation(space, request, actor);
  const account = accountResource(request.resourceName, request.custom);
  if (account) return carryOutAccount(space, account, request, actor);
  const resource = resolve(space, request.resourceName, request.custom);
  if (!GENERIC.has(request.op)) return command(space, resource, request, actor);
  const op = request.op === 'selectOne' ? 'select' : request.op;
  const operation = Object.hasOwn(CARRIED_OUT, op) ? CARRIED_OUT[op] : undefined;
  if (!operation || !resource.operations.has(op)) throw fault('cascade.method.not.allowed', request.op, resource.name);
  if (resource.name === DEAD_LETTERS.name) requireAdmin(actor.identity, request.op, resource.name);
  return operation(space, resource, resource.name === SUBSCRIPTIONS.name ? ownOnly(request, actor) : request, actor);
}

/** Persistent subscriptions are seen by whose they are, and by admins (resources-and-api.md 4.21). */
function ownOnly(request: ApiRequest, { identity }: Actor): ApiRequest {
  const { where } = request.parameters;
  if (isAdmin(identity) || request.resourceId !== undefined || (request.op === 'delete' && where === undefined)) return request;
  const own = { username: { $eq: identity.username } };
  return { ...request, parameters: { ...request.parameters, where: where === undefined ? own : { $and: [where, own] } } };
}
