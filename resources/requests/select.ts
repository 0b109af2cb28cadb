// SELECT of many and of one (resources-and-api.md 2.2, 2.3).

import type { ObjectValue, Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { ApiReply, ApiRequest } from '../api.ts';
import { parseProps, toFilter, toProjection } from '../../model/query/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { storedVersion } from '../../model/values/index.ts';
import { definitionJson, matching, readDefinition, selectDefinitions } from '../definitions/index.ts';
import { condition, notFoundBy, storedAt, storedBy, selectPage } from '../instances/index.ts';
import { type RowForm, writeRows } from '../scalars/index.ts';
import { versionOf } from '../representation/index.ts';
import type { InstanceResource, Namespace, Resource } from '../catalog/index.ts';
import { namesVersion } from './request.ts';
import { typedIf } from './typed.ts';

export async function select(space: Namespace, resource: Resource, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  if (request.resourceId === undefined && request.op !== 'selectOne') return selectMany(space, resource, request, actor);
  const props = request.parameters['props'] === undefined ? undefined : parseProps(request.parameters['props']);
  const found = await oneOf(space, resource, request, actor, props ?? null);
  const version = String(found.version);
  if (request.ifNoneMatch !== undefined && namesVersion(request.ifNoneMatch, version)) return { status: 304, version };
  return { status: 200, body: await found.json(), version, ...typedIf(request, resource) };
}

/** The projection; null: all properties. */
type Props = readonly string[] | null;

/** One instance or definition, before it is written as text. */
interface Found {
  readonly version: bigint;
  readonly json: () => string | Promise<string>;
}

const definition = (object: ObjectValue, props: Props): Found => ({
  version: versionOf(object),
  json: () => definitionJson(object, props),
});

const instance = (space: Namespace, { type }: InstanceResource, raw: Uint8Array, { props, form }: Shown, actor: Actor): Found => ({
  version: storedVersion(raw),
  json: async () => (await writeRows(space, type, form, props, actor)([raw]))[0] as string,
});

interface Shown {
  readonly props: Props;
  readonly form: RowForm;
}

const formOf = ({ federation }: ApiRequest): RowForm => (federation?.isTyped ? 'typed' : 'rest');

async function selectMany(space: Namespace, resource: Resource, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  const { parameters, streams = false } = request;
  if (resource.kind === 'instances') {
    const page = await selectPage(space, resource, parameters, actor, { streams, form: formOf(request), isGone: request.isGone });
    return { status: 200, ...page, ...typedIf(request, resource) };
  }
  const { json, count, truncated } = await selectDefinitions(space, resource, parameters, actor);
  return { status: 200, body: json, ...(count === undefined ? {} : { count }), ...(truncated ? { truncated } : {}) };
}

/** Finds one by its id, or by a condition that only it satisfies. */
async function oneOf(space: Namespace, resource: Resource, request: ApiRequest, actor: Actor, props: Props): Promise<Found> {
  const { resourceId, parameters } = request;
  const shown = { props, form: formOf(request) };
  if (resourceId !== undefined) {
    if (resource.kind === 'definitions') return definition(readDefinition(space, resource, resourceId, actor), props);
    const projection = toProjection(props, resource.type);
    const stored = await storedAt(space, resource, resourceId, actor, projection && { ...projection, ars_version: 1 });
    return instance(space, resource, stored, shown, actor);
  }
  const where: Value = parameters['where'] ?? {};
  const [found, second] =
    resource.kind === 'definitions'
      ? matching(space, resource, where, actor).map((object) => definition(object, props))
      : (await storedBy(space, resource, toFilter(await condition(space, resource, where, actor)), 2)).map((raw) =>
          instance(space, resource, raw, shown, actor),
        );
  if (second) throw apiError('cascade.query.not.unique', resource.name);
  if (!found) throw await notFoundBy(space, resource, where, actor);
  return found;
}
