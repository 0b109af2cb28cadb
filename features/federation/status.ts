// The state of a node by its last requests; no request is sent for it.
import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import type { ResourceRequest } from '../../resources/catalog/index.ts';
import { toJson } from '../../model/values/index.ts';
import { idOf, reply } from '../../resources/requests/index.ts';
import { FEDERATION } from './federation.ts';

/** The result is `{name, state, latencyMs, waiting}`; `state` is `unknown` before the first request, then `reachable` or `unreachable`. */
export const nodeStatus: ResourceRequest = async (space, request) => {
  const found = space.catalog.definitions.find('nodes', idOf(request));
  if (!found && idOf(request) !== 'self') throw apiError('cascade.resource.not.found', `/nodes/${idOf(request)}`);
  const name = found ? String(getOwn(found.object, 'name')) : 'self';
  const { state, latencyMs } = space.states.get(FEDERATION).conditionOf(name);
  const status: ObjectValue = { name, state, latencyMs, waiting: await space.states.get(FEDERATION).outbox.waiting(name) };
  return reply(toJson(status));
};
