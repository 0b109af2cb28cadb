// Dispatches the requests of clients (resources-and-api.md 2) to operations, and makes the reply in REST's format.

import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { type ApiReply, type ApiRequest, OPERATIONS } from '../api.ts';
import { toFilter } from '../../model/query/index.ts';
import { parseJson, toJson } from '../../model/values/index.ts';
import { apiError, notOffered } from '../../model/errors/index.ts';
import { resolve, type InstanceResource, type Namespace, type Resource } from '../catalog/index.ts';
import { condition, notFound, read, readAt } from '../instances/index.ts';
import { ownOnly, refuseInPart, requireRight, withOwn } from '../access/index.ts';
import { aggregate } from './aggregate.ts';
import { isStatement, patch, remove, statement, update } from './change.ts';
import { command, commandsOf } from './commands.ts';
import { refuseBeyondDoubles, refuseIllFormed } from './ill-formed.ts';
import { insert } from './insert.ts';
import { channels, execute, publish, query, status } from './invoke.ts';
import { requirePublic } from './public.ts';
import { schema } from './schema.ts';
import { select } from './select.ts';
import { typedReply } from './typed.ts';

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
  channels,
  execute,
};

const GENERIC: ReadonlySet<string> = new Set(OPERATIONS);

/** Operations whose reply is written with types from the start, and need not be parsed for it. */
const STREAMED: ReadonlySet<string> = new Set(['select', 'aggregate']);

/** Carries out a client's request. @throws CascadeError, CascadeErrors, at once or later */
export function carryOut(space: Namespace, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  if (!request.federation?.isTyped) return carriedOut(space, request, actor);
  const streams = request.streams === true && STREAMED.has(request.op);
  return carriedOut(space, { ...request, streams }, actor).then((given) => typedReply(space, request, given));
}

function carriedOut(space: Namespace, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  if (!request.publicOnly || request.transfer) return admitted(space, request, actor);
  const open = requirePublic(space, request, actor);
  return open ? open.then(() => admitted(space, request, actor)) : admitted(space, request, actor);
}

function admitted(space: Namespace, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  if (request.illFormedAt !== undefined) refuseIllFormed(space, request, request.illFormedAt);
  if (request.beyondDoublesAt !== undefined) refuseBeyondDoubles(space, request, request.beyondDoublesAt);
  const own = request.custom === true ? undefined : space.catalog.features.requests.get(request.resourceName);
  if (own) return own(space, request, actor);
  const installed = space.catalog.features.installationResource(request.resourceName, request.custom);
  if (isStatement(request))
    return statement(space, installed?.name ?? resolve(space, request.resourceName, request.custom).name, request, actor);
  if (installed) return installed.carryOut(space, request, actor);
  const resource = resolve(space, request.resourceName, request.custom);
  const { identity } = actor;
  if (request.transfer && resource.kind === 'instances' && resource.transfer) return resource.transfer(space, resource, request, actor);
  if (!GENERIC.has(request.op)) {
    if (commandsOf(space, resource.name).includes(request.op)) requireRight(space, resource, request.op, identity);
    return command(space, resource, request, actor);
  }
  const op = request.op === 'selectOne' ? 'select' : request.op;
  const operation = Object.hasOwn(CARRIED_OUT, op) ? CARRIED_OUT[op] : undefined;
  if (!operation || !resource.operations.has(op)) {
    throw notOffered(request.op, resource, commandsOf(space, resource.name));
  }
  const asked = op === 'insert' && request.parameters['upsert'] === true ? 'upsert' : op;
  if (request.publicOnly) return operation(space, resource, request, actor);
  requireRight(space, resource, asked, identity);
  const mine = ownOnly(space, resource, op, identity);
  return mine ? carryOutOwn(space, resource, request, op, actor, mine) : operation(space, resource, request, actor);
}

/**
 * Carries out an operation on a resource where the caller has rights on its own instances only: others' are not found.
 * @param op what the request's operation is carried out by: that of `selectOne` is `select`
 */
async function carryOutOwn(
  space: Namespace,
  resource: Resource,
  request: ApiRequest,
  op: string,
  actor: Actor,
  own: ObjectValue,
): Promise<ApiReply> {
  const { resourceId, parameters } = request;
  const operation = CARRIED_OUT[op] as CarryOut;
  refuseInPart(resource, parameters['where'], parameters['sort']);
  if (op === 'aggregate') {
    const pipeline = request.object ?? parameters['pipeline'];
    const first: Value[] = [{ $match: own }, ...((resource.kind === 'instances' && resource.seen?.stages(actor.identity.username)) || [])];
    const object: Value = Array.isArray(pipeline) ? [...first, ...pipeline] : (pipeline ?? null);
    return operation(space, resource, { ...request, object }, actor);
  }
  if (op === 'select' && resource.kind === 'instances' && resource.seen) return selectSeen(space, resource, request, actor, own);
  if (resourceId !== undefined) {
    const seen = ownOnly(space, resource, 'select', actor.identity);
    await requireOwn(space, resource, resourceId, actor, seen ?? own);
    if (seen && !(await isOwn(space, resource, resourceId, actor, own))) throw apiError('cascade.authorization.denied', op, resource.name);
    return operation(space, resource, request, actor);
  }
  if (op === 'delete' && parameters['where'] === undefined) return operation(space, resource, request, actor); // it refuses
  return operation(space, resource, { ...request, parameters: { ...parameters, where: withOwn(parameters['where'], own) } }, actor);
}

/** SELECT where the caller sees only a part of each instance. */
async function selectSeen(
  space: Namespace,
  resource: InstanceResource,
  request: ApiRequest,
  actor: Actor,
  own: ObjectValue,
): Promise<ApiReply> {
  const { resourceId, parameters } = request;
  if (resourceId !== undefined) await requireOwn(space, resource, resourceId, actor, own);
  const asked: ApiRequest = { ...request, streams: false };
  if (resourceId === undefined) asked.parameters = { ...parameters, where: withOwn(parameters['where'], own) };
  const reply = await select(space, resource, asked, actor);
  if (reply.body === undefined) return reply;
  const cut = (one: Value): Value => (isObject(one) ? (resource.seen?.instance(one, actor.identity.username) ?? one) : one);
  const shown = parseJson(reply.body);
  return { ...reply, body: toJson(Array.isArray(shown) ? shown.map(cut) : cut(shown)) };
}

/** @throws cascade.resource.not.found */
async function requireOwn(space: Namespace, resource: Resource, id: string, actor: Actor, own: ObjectValue): Promise<void> {
  if (!(await isOwn(space, resource, id, actor, own))) throw notFound(resource, id);
}

/** @throws cascade.resource.not.found */
async function isOwn(space: Namespace, resource: Resource, id: string, actor: Actor, own: ObjectValue): Promise<boolean> {
  if (resource.kind !== 'instances') return true;
  const stored = await readAt(space, resource, id, actor);
  const one = { $and: [{ _id: getOwn(stored, '_id') }, own] };
  return (await read(space, resource, toFilter(await condition(space, resource, one, actor)), 1)).length > 0;
}
