// SELECT of many and of one (resources-and-api.md 2.2, 2.3).

import type { ObjectValue, Value } from '../../../stdlib/values/index.ts';
import type { Actor } from '../../actor.ts';
import type { ApiReply, ApiRequest } from '../../api.ts';
import { parseProps, toFilter } from '../../conditions/index.ts';
import { fault } from '../../faults.ts';
import { instanceToJson } from '../../values/index.ts';
import { definitionJson, matching, readDefinition, selectDefinitions } from '../definitions/operations.ts';
import { condition, read, readAt } from '../instances/find.ts';
import { selectPage } from '../instances/select.ts';
import { versionOf } from '../stamp.ts';
import type { Namespace, Resource } from '../types.ts';
import { namesVersion } from './request.ts';

export async function select(space: Namespace, resource: Resource, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  if (request.resourceId === undefined && request.op !== 'selectOne') return selectMany(space, resource, request, actor);
  const props = request.parameters['props'] === undefined ? undefined : parseProps(request.parameters['props']);
  const found = await oneOf(space, resource, request, actor);
  const version = String(versionOf(found));
  if (request.ifNoneMatch !== undefined && namesVersion(request.ifNoneMatch, version)) return { status: 304, version };
  const body = resource.kind === 'instances' ? instanceToJson(resource.type, found, props ?? undefined) : definitionJson(found, props);
  return { status: 200, body, version };
}

async function selectMany(space: Namespace, resource: Resource, { parameters }: ApiRequest, actor: Actor): Promise<ApiReply> {
  const selected =
    resource.kind === 'definitions'
      ? selectDefinitions(space, resource, parameters, actor)
      : await selectPage(space, resource, parameters, actor);
  const { json, count, truncated } = selected;
  return { status: 200, body: json, ...(count === undefined ? {} : { count }), ...(truncated ? { truncated } : {}) };
}

/** By its id, or by a condition that only it meets. */
async function oneOf(space: Namespace, resource: Resource, { resourceId, parameters }: ApiRequest, actor: Actor): Promise<ObjectValue> {
  if (resourceId !== undefined)
    return resource.kind === 'definitions' ? readDefinition(space, resource, resourceId) : readAt(space, resource, resourceId);
  const where: Value = parameters['where'] ?? {};
  const [found, second] =
    resource.kind === 'definitions'
      ? matching(space, resource, where, actor)
      : await read(space, resource, toFilter(condition(resource, where, actor)), 2);
  if (second) throw fault('cascade.query.not.unique', resource.name);
  if (!found) throw fault('cascade.resource.not.found', `/${resource.name}`);
  return found;
}
