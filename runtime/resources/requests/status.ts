// `…/services/<service>/_status` (resources-and-api.md 4.5): how one service is.

import { getOwn, type ObjectValue } from '../../../stdlib/values/index.ts';
import type { ApiReply, ApiRequest } from '../../api.ts';
import { fault } from '../../faults.ts';
import { toJson } from '../../values/index.ts';
import type { Namespace, Resource } from '../types.ts';
import { idOf, reply } from './request.ts';

export async function status(space: Namespace, _resource: Resource, request: ApiRequest): Promise<ApiReply> {
  const id = idOf(request);
  const found = space.definitions.find('services', id);
  if (!found) throw fault('cascade.resource.not.found', `/services/${id}`);
  const { name, object } = found;
  const procedures = space.definitions.list('procedures').filter(([, procedure]) => getOwn(procedure, 'serviceName') === name);
  const scheduled = Object.hasOwn(object, 'scheduledProcedures') ? getOwn(object, 'scheduledProcedures') : null;
  const shown: ObjectValue = {
    health: getOwn(object, 'active') === false ? 'inactive' : 'healthy',
    metrics: { procedures: procedures.length },
    stateInitialized: space.state.isInitialized(name),
    scheduledProcedures: scheduled ?? {},
  };
  return reply(toJson(shown));
}
