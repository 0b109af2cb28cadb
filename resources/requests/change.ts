// UPDATE, PATCH and DELETE (resources-and-api.md 2.5, 2.7, 2.8).

import { finishWithin, longWork } from '../../platform/structures/index.ts';
import { isLong, namesNothing, prepareChanges, type TypeDefinition } from '../../model/types/index.ts';
import { CascadeError } from '../../stdlib/errors.ts';
import { decodeInner, encodeInner, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { ApiReply, ApiRequest } from '../api.ts';
import { apiError } from '../../model/errors/index.ts';
import { instanceToJson, instanceToJsonInPieces, parseJson, parseLongJson } from '../../model/values/index.ts';
import {
  changeDefinitionBy,
  definitionJson,
  findDefinition,
  matchingStored,
  shown,
  deleteInstance,
  deleteInstances,
  deleteWithDependents,
} from '../definitions/index.ts';
import { readAt, changeOf, updateOne } from '../instances/index.ts';
import { indexBuildsOf } from '../collections/index.ts';
import { patchChanges } from '../representation/index.ts';
import { isConverted, shownOne, toStored } from '../scalars/index.ts';
import type { DefinitionResource, InstanceResource, Namespace, Resource } from '../catalog/index.ts';
import { endedBy, perform } from '../operations/index.ts';
import { runDurably } from '../../runtime/runs/index.ts';
import { answersArray, bodyOf, checkId, counted, demandedVersion, idOf, NO_CONTENT, reply } from './request.ts';
import { changedReply, longInstanceText, typedIf } from './typed.ts';

export async function update(space: Namespace, resource: Resource, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  const id = idOf(request);
  const body = bodyOf(resource, request);
  if (!isObject(body)) throw apiError('cascade.request.body.invalid', 'an object is expected', 0);
  const change: Changes = (stored) => {
    checkId(stored, body, id);
    return body;
  };
  if (resource.kind === 'definitions') return definitionUpdate(space, resource, request, actor, change);
  try {
    return await instanceUpdate(space, resource, request, actor, change);
  } catch (error) {
    // A body that would be refused wherever it is sent is refused for that, whether or not there is something at the address (2).
    const isMissing = error instanceof CascadeError && error.code === 'cascade.resource.not.found';
    if (isMissing && !isConverted(resource.type)) prepareChanges(resource.type, body);
    throw error;
  }
}

export async function patch(space: Namespace, resource: Resource, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  const { object: operations } = request;
  if (operations === undefined || !(Array.isArray(operations) || isObject(operations)))
    throw apiError('cascade.request.body.invalid', 'a JSON Patch is expected', 0);
  if (resource.kind === 'definitions')
    return definitionUpdate(space, resource, request, actor, (stored) =>
      patchChanges(external(definitionJson(shown(space, resource, stored))), operations, new Set(), resource.removedByValue),
    );
  const { type } = resource;
  const removed = new Set<string>();
  const changes: Changes = async (stored) => {
    removed.clear();
    return patchChanges(await externalOf(space, type, await shownOne(space, type, stored, actor)), operations, removed);
  };
  return instanceUpdate(space, resource, request, actor, changes, removed);
}

/** Whether another installation asks for an UPDATE or DELETE with a condition, which is one of the language. */
export const isStatement = ({ federation, op, resourceId }: ApiRequest): boolean =>
  federation !== undefined && resourceId === undefined && (op === 'update' || op === 'delete');

/** Carries out such a statement as it would be here: the number of instances or the one that was named, and the same errors. */
export async function statement(space: Namespace, name: string, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  const { op, parameters, object = null } = request;
  const { where } = parameters;
  if (where === undefined && op === 'delete') throw apiError('cascade.delete.where.required', name);
  if (where === undefined) throw apiError('cascade.request.parameter.invalid', 'where', null);
  if (op === 'update' && !isObject(object)) throw apiError('cascade.request.body.invalid', 'an object is expected', 0);
  const asked: ObjectValue = { resource: name, where, ...(op === 'update' && { values: object, options: {}, onError: false }) };
  const answer = await perform(space, op, encodeInner(asked), actor);
  if ('error' in answer)
    throw new CascadeError(answer.error.code, answer.error.message, answer.error.params as Value[], answer.error.status);
  const result = decodeInner('list' in answer ? answer.list : answer.ok);
  return op === 'delete' ? { ...NO_CONTENT, ...counted(request, Number(result)) } : changedReply(request, result);
}

/** The external form, which a patch applies to. */
const external = (json: string): ObjectValue => parseJson(json) as ObjectValue;

async function externalOf({ name }: Namespace, type: TypeDefinition, instance: ObjectValue): Promise<ObjectValue> {
  if (!isLong(instance)) return external(instanceToJson(type, instance));
  using work = longWork(name);
  const json = await finishWithin(work, instanceToJsonInPieces(type, instance));
  return (await parseLongJson(Buffer.from(json), () => work.next())) as ObjectValue;
}

/** The properties to change in a stored instance; null removes a property, for a patch. */
type Changes = (stored: ObjectValue) => ObjectValue | Promise<ObjectValue>;

async function definitionUpdate(
  space: Namespace,
  resource: DefinitionResource,
  request: ApiRequest,
  actor: Actor,
  change: Changes,
): Promise<ApiReply> {
  const id = idOf(request);
  const { object: stored } = findDefinition(space, resource, id, 'update', actor);
  resource.requireChangeable?.(stored); // before the change is read, which may name anything
  const version = demandedVersion(resource, request, stored);
  if (namesNothing(await change(stored))) return reply(definitionJson(shown(space, resource, stored)));
  const changed = await indexBuildsOf(space).answering(
    changeDefinitionBy(space, resource, id, change, actor, version),
    resource.name === 'types' ? space.catalog.definitions.collectionOf(stored) : undefined,
  );
  if (changed !== null) return reply(definitionJson(shown(space, resource, changed)));
  return { ...reply(definitionJson(shown(space, resource, findDefinition(space, resource, id, 'update', actor).object))), status: 202 };
}

async function instanceUpdate(
  space: Namespace,
  resource: InstanceResource,
  request: ApiRequest,
  actor: Actor,
  change: Changes,
  removed: ReadonlySet<string> = new Set(),
): Promise<ApiReply> {
  const id = idOf(request);
  const first = await readAt(space, resource, id, actor);
  const version = demandedVersion(resource, request, first);
  const { type } = resource;
  const answered = async (instance: ObjectValue): Promise<ApiReply> => {
    const json = await longInstanceText(space, request, type, instance);
    return { ...reply(answersArray(resource) ? `[${json}]` : json), ...typedIf(request, resource) };
  };
  if (namesNothing(await change(first))) return answered(await shownOne(space, type, first, actor));
  let known: ObjectValue | null = first;
  const find = async (): Promise<ObjectValue> => {
    const stored = known ?? (await readAt(space, resource, id, actor));
    known = null;
    return stored;
  };
  const toNext = async (stored: ObjectValue): Promise<ObjectValue> => {
    const changes = await change(stored);
    const next = await changeOf(
      resource,
      await toStored(space, type, resource.receive?.(changes, actor, false) ?? changes, actor),
      space,
    )(stored);
    for (const name of removed) if (Object.hasOwn(next, name)) delete next[name];
    return next;
  };
  const next = await updateOne(space, resource, find, toNext, actor, { version });
  return next ? answered(next) : NO_CONTENT;
}

export async function remove(space: Namespace, resource: Resource, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  const { resourceId, parameters } = request;
  if (resourceId !== undefined) return { ...NO_CONTENT, ...counted(request, await removeOne(space, resource, resourceId, request, actor)) };
  const where = parameters['where'];
  if (where === undefined) throw apiError('cascade.delete.where.required', resource.name);
  if (resource.kind === 'instances') {
    const gone = (await endedBy(space, resource, where, actor)) ?? (await deleteInstances(space, resource, where, actor));
    const count = gone ?? Number(await runDurably('delete', { resource: resource.name, where }, actor));
    return { ...NO_CONTENT, ...counted(request, count) };
  }
  const doomed = matchingStored(space, resource, where, actor);
  for (const [name] of doomed)
    if (space.catalog.definitions.get(resource.name, name)) await deleteWithDependents(space, resource, name, actor);
  return { ...NO_CONTENT, ...counted(request, doomed.length) };
}

/** Deletes one. Gives the number: 0 when a BEFORE rule cancelled it. */
async function removeOne(space: Namespace, resource: Resource, id: string, request: ApiRequest, actor: Actor): Promise<number> {
  if (resource.kind === 'definitions') {
    const expected = demandedVersion(resource, request, findDefinition(space, resource, id, 'delete', actor).object);
    await deleteWithDependents(space, resource, id, actor, expected);
    return 1;
  }
  const stored = await readAt(space, resource, id, actor);
  const version = demandedVersion(resource, request, stored);
  if (!resource.end) return deleteInstance(space, resource, () => readAt(space, resource, id, actor), actor, { version });
  await resource.end(space, String(stored['name']));
  return 1;
}
