// Requests to users, tokens and namespaces (resources-and-api.md 4.9, 4.11, 4.12): the installation stores them, so that they are neither
// instances nor definitions of a namespace. Rights are those of 7.5 for the default profiles: admins may access all, others what belongs to
// them.

import { getOwn, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { ApiReply, ApiRequest } from '../../resources/api.ts';
import { parseProps } from '../../model/query/index.ts';
import { changedInTurn, mostRowsOf } from '../../resources/instances/index.ts';
import { apiError, CascadeError, notOffered } from '../../model/errors/index.ts';
import { aggregate } from '../../resources/aggregate/index.ts';
import { definitionJson, selectedFrom } from '../../resources/definitions/index.ts';
import { versionOf, patchChanges } from '../../resources/representation/index.ts';
import { eachInserted, counted, demandedVersion, namesVersion, NO_CONTENT, pipelineIn, reply } from '../../resources/requests/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import type { AccountResource } from './account-resource.ts';
import {
  accountAt,
  type By,
  bodyOf,
  command,
  insertAccount,
  matching,
  removeAccounts,
  requireCapability,
  updateAccount,
  upsertAccount,
} from './changes.ts';
import { NAMESPACES } from './namespaces.ts';
import { ORGANIZATIONS } from './organizations.ts';
import { TOKENS } from './tokens.ts';
import { USERS } from './users.ts';

export const ACCOUNTS: readonly AccountResource[] = [USERS, TOKENS, NAMESPACES, ORGANIZATIONS];

/** Generic operations; all others are commands. */
const GENERIC: ReadonlySet<string> = new Set(['aggregate', 'insert', 'upsert', 'update', 'patch', 'delete']);

/** The generic operations that a resource supports. */
export const operationsOf = ({ insert, update, upserts, unpatched, remove }: AccountResource): ReadonlySet<string> =>
  new Set([
    'select',
    'aggregate',
    ...(insert ? ['insert'] : []),
    ...(upserts ? ['upsert'] : []),
    ...(update ? ['update'] : []),
    ...(update && !unpatched ? ['patch'] : []),
    ...(remove ? ['delete'] : []),
  ]);

/** The version that `If-Match` or `ars_version` requires. The id of the request may be a token itself, which no error may show. */
const versionOfRequest = ({ name, type }: AccountResource, request: ApiRequest, stored: ObjectValue): bigint | undefined => {
  const key = name === TOKENS.name ? '_id' : (type.naturalKey[0] ?? '_id');
  return demandedVersion({ kind: 'definitions', name }, { ...request, resourceId: String(getOwn(stored, key)) }, stored);
};

/** A patch is worked out of what is stored, so it is held to that version; after another change it is worked out again. */
function patched(space: Namespace, resource: AccountResource, request: ApiRequest, id: string, by: By): Promise<ObjectValue> {
  const attempt = async (): Promise<ObjectValue> => {
    const stored = await accountAt(space, resource, id, by.actor.identity);
    const changes = patchChanges(stored, request.object ?? null);
    const version = versionOfRequest(resource, request, stored) ?? versionOf(stored);
    return updateAccount(space, resource, stored, changes, by, { version });
  };
  return changedInTurn(
    space,
    () => `accounts/${resource.name}/${id}`,
    attempt,
    (error) => request.ifMatch === undefined && isConflict(error),
  );
}

const isConflict = (error: unknown): boolean =>
  error instanceof CascadeError && error.code === 'cascade.update.authorization.or.version.conflict';

export async function carryOutAccount(space: Namespace, resource: AccountResource, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  const { parameters, resourceId } = request;
  const caller = actor.identity;
  const by = { actor, address: request.address || null }; // empty: the client has disconnected
  const op = request.op === 'insert' && parameters['upsert'] === true ? 'upsert' : request.op;
  const isOffered = operationsOf(resource).has(op) && !(op === 'delete' && resourceId === undefined && resource.removesOneByOne);
  if (GENERIC.has(op) && !isOffered) {
    throw notOffered(op, { name: resource.name, operations: operationsOf(resource) }, Object.keys(resource.commands ?? {}));
  }
  if (op !== 'select' && op !== 'selectOne') requireCapability(space, resource, op, caller);
  switch (op) {
    case 'select':
    case 'selectOne': {
      if (resourceId === undefined) {
        const found = await matching(space, resource, parameters['where'] ?? {}, caller);
        const { json, count, truncated } = await selectedFrom(space, found, resource.type, parameters);
        return { status: 200, body: json, ...(count === undefined ? {} : { count }), ...(truncated ? { truncated } : {}) };
      }
      const props = parameters['props'] === undefined ? null : parseProps(parameters['props']);
      const found = await accountAt(space, resource, resourceId, caller);
      const version = String(versionOf(found));
      if (request.ifNoneMatch !== undefined && namesVersion(request.ifNoneMatch, version)) return { status: 304, version };
      return { ...reply(definitionJson(found, props)), version };
    }
    case 'aggregate': {
      const pipeline = pipelineIn(request);
      const rows = { kind: 'rows' as const, name: resource.name, type: resource.type, rows: await resource.list(space, caller) };
      const isExact = request.exactReals === true;
      const written = { streams: request.streams === true, exactReals: isExact, isTyped: false, most: mostRowsOf(parameters) };
      return { status: 200, ...(await aggregate(space, rows, pipeline, actor, written)) };
    }
    case 'insert':
    case 'upsert': {
      const put = op === 'upsert' ? upsertAccount : insertAccount;
      const one = async (body: Value): Promise<string> => definitionJson(await put(space, resource, body, by));
      if (Array.isArray(request.object)) return eachInserted(request, request.object, one);
      return { ...reply(await one(request.object ?? null)), ...counted(request, 1) };
    }
    case 'update': {
      if (resourceId === undefined) throw apiError('cascade.method.not.allowed', op, resource.name);
      const changes = bodyOf(request.object);
      const stored = await accountAt(space, resource, resourceId, caller);
      const version = versionOfRequest(resource, request, stored);
      return reply(definitionJson(await updateAccount(space, resource, stored, changes, by, { version })));
    }
    case 'patch': {
      if (resourceId === undefined) throw apiError('cascade.method.not.allowed', op, resource.name);
      return reply(definitionJson(await patched(space, resource, request, resourceId, by)));
    }
    case 'delete': {
      if (resourceId === undefined && parameters['where'] === undefined) throw apiError('cascade.delete.where.required', resource.name);
      const where = parameters['where'] ?? {};
      const doomed =
        resourceId === undefined ? await matching(space, resource, where, caller) : [await accountAt(space, resource, resourceId, caller)];
      const version = resourceId !== undefined && doomed[0] ? versionOfRequest(resource, request, doomed[0]) : undefined;
      await removeAccounts(space, resource, doomed, where, by, version);
      return { ...NO_CONTENT, ...counted(request, doomed.length) };
    }
    default: {
      if (!Object.hasOwn(resource.commands ?? {}, op)) throw apiError('cascade.operation.unknown', op);
      if (resourceId === undefined) throw apiError('cascade.request.parameter.invalid', 'resourceId', null);
      const stored = await accountAt(space, resource, resourceId, caller);
      const result = await command(space, resource, op, stored, request.object ?? null, by);
      return reply(definitionJson({ result }).slice('{"result":'.length, -1));
    }
  }
}
