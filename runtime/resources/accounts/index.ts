// Users, tokens and namespaces (resources-and-api.md 4.9, 4.11, 4.12): kept by the installation, so neither instances nor definitions of a
// namespace. Rights are those of 7.5 for the default profiles: admins all, others what is their own.

import { getOwn, isObject, type ObjectValue, type Value } from '../../../stdlib/values/index.ts';
import type { Actor } from '../../actor.ts';
import type { ApiReply, ApiRequest, Identity } from '../../api.ts';
import { matches, parseProps, parseWhere } from '../../conditions/index.ts';
import { fault } from '../../faults.ts';
import type { TypeDefinition } from '../../types/index.ts';
import { definitionJson, selectedFrom } from '../definitions/operations.ts';
import { patchChanges } from '../patch.ts';
import { eachInserted } from '../requests/insert.ts';
import { counted, NO_CONTENT, reply } from '../requests/request.ts';
import type { Namespace } from '../types.ts';
import { NAMESPACES } from './namespaces.ts';
import { objectOf } from './rights.ts';
import { TOKENS } from './tokens.ts';
import { USERS } from './users.ts';

/** How one of them is listed and changed; what is absent is not offered. */
export interface AccountResource {
  readonly name: 'users' | 'tokens' | 'namespaces';
  readonly type: TypeDefinition;
  /** What the caller may see, as it is shown. */
  list(space: Namespace, caller: Identity): Promise<ObjectValue[]>;
  /** Whether this id means that object. */
  isAt(space: Namespace, id: string, object: ObjectValue): Promise<boolean> | boolean;
  insert(space: Namespace, body: ObjectValue, caller: Identity): Promise<ObjectValue>;
  /** @param address of the client, where one asks */
  update?(space: Namespace, stored: ObjectValue, changes: ObjectValue, caller: Identity, address: string | null): Promise<void>;
  /** What may be updated, but not patched (4.22). */
  readonly unpatched?: true;
  remove?(space: Namespace, stored: ObjectValue, caller: Identity): Promise<void>;
  readonly commands?: Readonly<Record<string, (space: Namespace, stored: ObjectValue, data: Value, caller: Identity) => Promise<Value>>>;
}

export const ACCOUNTS: readonly AccountResource[] = [USERS, TOKENS, NAMESPACES];

const RESOURCES = new Map<string, AccountResource>(
  ACCOUNTS.flatMap((one) => [
    [one.name, one],
    [one.type.name, one],
  ]),
);

/** The operations that it offers, besides its commands. */
export const operationsOf = ({ update, unpatched, remove }: AccountResource): ReadonlySet<string> =>
  new Set(['select', 'insert', ...(update ? ['update'] : []), ...(update && !unpatched ? ['patch'] : []), ...(remove ? ['delete'] : [])]);

/** Undefined when the name means something else; their type names count under `custom/`, too. */
export function accountResource(name: string, custom: boolean | null): AccountResource | undefined {
  const bare = name.startsWith('system.') ? name.slice('system.'.length) : name;
  const found = RESOURCES.get(bare);
  return custom === true && found?.name === bare ? undefined : found;
}

export async function carryOutAccount(space: Namespace, resource: AccountResource, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  const { parameters, resourceId } = request;
  const caller = actor.identity;
  switch (request.op) {
    case 'select':
    case 'selectOne': {
      if (resourceId === undefined) {
        const found = await matching(space, resource, parameters['where'] ?? {}, caller);
        const { json, count, truncated } = selectedFrom(found, resource.type, parameters);
        return { status: 200, body: json, ...(count === undefined ? {} : { count }), ...(truncated ? { truncated } : {}) };
      }
      const props = parameters['props'] === undefined ? null : parseProps(parameters['props']);
      return reply(definitionJson(await at(space, resource, resourceId, caller), props));
    }
    case 'insert': {
      const one = async (given: Value): Promise<string> => {
        const body = bodyOf(given);
        const made = await resource.insert(space, body, caller);
        note(space, resource, request, caller, made, body);
        return definitionJson(made);
      };
      if (Array.isArray(request.object)) return eachInserted(request, request.object, one);
      return { ...reply(await one(request.object ?? null)), ...counted(request, 1) };
    }
    case 'update':
    case 'patch': {
      if (!resource.update || resourceId === undefined || (request.op === 'patch' && resource.unpatched))
        throw fault('cascade.method.not.allowed', request.op, resource.name);
      const stored = await at(space, resource, resourceId, caller);
      const changes = request.op === 'patch' ? patchChanges(stored, request.object ?? null) : bodyOf(request.object);
      await resource.update(space, stored, changes, caller, request.address ?? null);
      note(space, resource, request, caller, stored, changes);
      return reply(definitionJson(await at(space, resource, String(getOwn(stored, '_id')), caller))); // its name may be another one now
    }
    case 'delete': {
      if (!resource.remove) throw fault('cascade.method.not.allowed', request.op, resource.name);
      if (resourceId === undefined && parameters['where'] === undefined) throw fault('cascade.delete.where.required', resource.name);
      const doomed =
        resourceId === undefined
          ? await matching(space, resource, parameters['where'] ?? {}, caller)
          : [await at(space, resource, resourceId, caller)];
      for (const one of doomed) {
        await resource.remove(space, one, caller);
        note(space, resource, request, caller, one);
      }
      return { ...NO_CONTENT, ...counted(request, doomed.length) };
    }
    default: {
      const commands = resource.commands ?? {};
      const command = Object.hasOwn(commands, request.op) ? commands[request.op] : undefined;
      if (!command || resourceId === undefined)
        throw request.op === 'aggregate' || request.op === 'upsert'
          ? fault('cascade.method.not.allowed', request.op, resource.name)
          : fault('cascade.operation.unknown', request.op);
      const stored = await at(space, resource, resourceId, caller);
      const result = await command(space, stored, request.object ?? null, caller);
      if (request.op !== 'getAuthorizedUsers') note(space, resource, request, caller, stored, objectOf(request.object ?? null));
      return reply(definitionJson({ result }).slice('{"result":'.length, -1));
    }
  }
}

/** The log has what was done, by whom, from where; values only where they are no secrets. */
function note(
  space: Namespace,
  { name: resource, type }: AccountResource,
  { op: operation, address }: ApiRequest,
  { username }: Identity,
  object: ObjectValue,
  given: ObjectValue = {},
): void {
  const [key = '_id'] = type.naturalKey;
  const profiles = getOwn(given, 'profiles');
  const active = getOwn(given, 'active');
  const concerning = resource === 'namespaces' ? getOwn(given, 'username') : null;
  space.accounts.security.changed({
    operation,
    resource,
    target: String(getOwn(object, key)),
    username,
    namespace: space.name,
    address: address ?? null,
    members: Object.keys(given).filter((member) => type.properties.has(member)),
    ...(Array.isArray(profiles) && { profiles: profiles.map(String) }),
    ...(typeof active === 'boolean' && { active }),
    ...(typeof concerning === 'string' && { concerning: concerning.toLowerCase() }),
  });
}

/** What the caller may see and a condition matches, as it is shown. */
export async function matching(space: Namespace, resource: AccountResource, where: Value, caller: Identity): Promise<ObjectValue[]> {
  if (!isObject(where)) throw fault('cascade.request.parameter.invalid', 'where', where);
  const predicate = parseWhere(where, resource.type, { username: caller.username, namespace: caller.namespace, now: space.clock.now() });
  return (await resource.list(space, caller)).filter((object) => matches(predicate, object));
}

/** @throws cascade.resource.not.found also for what the caller may not see */
async function at(space: Namespace, resource: AccountResource, id: string, caller: Identity): Promise<ObjectValue> {
  for (const object of await resource.list(space, caller)) if (await resource.isAt(space, id, object)) return object;
  throw fault('cascade.resource.not.found', `/${resource.name}/${resource.name === 'tokens' ? '…' : id}`); // the id may be the token itself
}

function bodyOf(body: Value | undefined): ObjectValue {
  if (!isObject(body ?? null)) throw fault('cascade.request.body.invalid', 'an object is expected', 0);
  return body as ObjectValue;
}
