// Requests to services besides those for definitions (resources-and-api.md 4.5): raising an event, and status.
import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { toJson } from '../../model/values/index.ts';
import type { Namespace, ResourceRequest } from '../../resources/catalog/index.ts';
import { idOf, reply } from '../../resources/requests/index.ts';
import { publishServiceEvent } from './service-events.ts';

/** @throws cascade.resource.not.found */
export const publish: ResourceRequest = async (space, request, actor) => {
  const id = idOf(request);
  const slash = id.lastIndexOf('/');
  await publishServiceEvent(space, id.slice(0, slash), id.slice(slash + 1), request.object ?? null, actor);
  return reply('{}');
};

export const status: ResourceRequest = async (space, request) => reply(toJson(statusOfService(space, idOf(request))));

function statusOfService(space: Namespace, id: string): ObjectValue {
  const found = space.catalog.definitions.find('services', id);
  if (!found) throw apiError('cascade.resource.not.found', `/services/${id}`);
  const { name, object } = found;
  const procedures = space.catalog.definitions.list('procedures').filter(([, procedure]) => getOwn(procedure, 'serviceName') === name);
  const scheduled = Object.hasOwn(object, 'scheduledProcedures') ? getOwn(object, 'scheduledProcedures') : null;
  return {
    health: getOwn(object, 'active') === false ? 'inactive' : 'healthy',
    metrics: { procedures: procedures.length },
    stateInitialized: space.execution.sharedState.isInitialized(name),
    scheduledProcedures: scheduled ?? {},
  };
}
