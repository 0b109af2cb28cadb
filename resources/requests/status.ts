// `…/services/<service>/_status` and `…/sources/<source>/_status` (resources-and-api.md 4.5, integrations.md 1.8): how one of them is.

import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import type { ApiReply, ApiRequest } from '../api.ts';
import { fault } from '../../model/errors/faults.ts';
import { toJson } from '../../model/values/index.ts';
import type { Namespace, Resource } from '../catalog/types.ts';
import { sourceNamed } from '../../features/sources/index.ts';
import { idOf, reply } from './request.ts';

export async function status(space: Namespace, resource: Resource, request: ApiRequest): Promise<ApiReply> {
  const id = idOf(request);
  return reply(toJson(resource.name === 'sources' ? await space.sources.status(sourceNamed(space, id)) : statusOfService(space, id)));
}

/** Where a chatbot is (integrations.md 6.3). */
export async function channels(space: Namespace, _resource: Resource, request: ApiRequest): Promise<ApiReply> {
  const { object } = space.definitions.find('sources', idOf(request)) ?? { object: sourceNamed(space, idOf(request)) };
  return reply(toJson(await space.sources.view(String(getOwn(object, 'name')), 'channels')));
}

function statusOfService(space: Namespace, id: string): ObjectValue {
  const found = space.definitions.find('services', id);
  if (!found) throw fault('cascade.resource.not.found', `/services/${id}`);
  const { name, object } = found;
  const procedures = space.definitions.list('procedures').filter(([, procedure]) => getOwn(procedure, 'serviceName') === name);
  const scheduled = Object.hasOwn(object, 'scheduledProcedures') ? getOwn(object, 'scheduledProcedures') : null;
  return {
    health: getOwn(object, 'active') === false ? 'inactive' : 'healthy',
    metrics: { procedures: procedures.length },
    stateInitialized: space.state.isInitialized(name),
    scheduledProcedures: scheduled ?? {},
  };
}
