// Deploys definitions to nodes (integrations.md 11.9). Rules and sources with an activation constraint are active where the node's record
// satisfies it, and inactive elsewhere.
import { getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { type Actor, withoutAnswers } from '../../runtime/context/index.ts';
import { Fenced } from '../../runtime/transactions/index.ts';
import { type CascadeError, apiError, isApiError } from '../../model/errors/index.ts';
import { matches, parseWhere } from '../../model/query/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { fromTyped, parseJson } from '../../model/values/index.ts';
import type { ApiRequest } from '../../resources/api.ts';
import { own } from '../../resources/operations/index.ts';
import { carryOut } from '../../resources/requests/index.ts';
import { NODE_SHAPE, shownNode } from '../nodes/index.ts';
import { HttpFailure } from '../sources/index.ts';
import type { NodeRequest } from './node-client.ts';
import { failureOf } from './failures.ts';
import { FEDERATION } from './federation.ts';
import { hopOf } from './hops.ts';
import { definitionRequest } from './requests.ts';

const WITHIN_MS = 60_000;
const SET_BY_SERVICE = /^(?:_id|ars_(?:namespace|version|createdAt|createdBy|modifiedAt|modifiedBy))$/;

/** Installs a definition on a node, or removes it there; removing an absent one succeeds. Null: success. @throws what is nobody's refusal, here */
export async function provision(
  space: Namespace,
  node: string,
  kind: string,
  name: string,
  operation: 'deploy' | 'undeploy',
  actor: Actor,
): Promise<CascadeError | null> {
  const signal = AbortSignal.timeout(WITHIN_MS);
  const federation = space.states.get(FEDERATION);
  try {
    const request = operation === 'deploy' ? installation(space, node, kind, name, actor) : removal(kind, name);
    if (node === 'self') await carryOut(space, ownRequest(request, actor), withoutAnswers(actor));
    else {
      const deadline = performance.now() + WITHIN_MS;
      await space.states
        .get(FEDERATION)
        .clientOf(node)
        .ask(request, { hop: hopOf(actor), signal, deadline });
    }
    return null;
  } catch (error) {
    if (node === 'self' && !isApiError(error)) throw error; // the store, or the run itself: it is no refusal of the definition
    // Its clients are closed then: no node has failed, and the record would stay.
    if (federation.isClosed) throw new Fenced('the namespace is being closed: the next owner of the run deploys');
    const isLate = signal.aborted || (error instanceof HttpFailure && error.kind === 'timeout');
    if (isLate) return apiError('io.service.federation.request.timeout', node, WITHIN_MS);
    const failed = failureOf(node, error);
    return operation === 'undeploy' && failed.status === 404 ? null : failed;
  }
}

/** The same request of this installation to itself, as who deploys (integrations.md 11.1). */
function ownRequest({ op, resource, id, parameters = {}, object }: NodeRequest, { identity }: Actor): ApiRequest {
  const parsed = Object.fromEntries(Object.entries(parameters).map(([name, text]) => [name, parseJson(text)] as const));
  const request: ApiRequest = { identity, op, resourceName: resource, custom: false, parameters: parsed };
  if (id !== undefined) request.resourceId = id;
  if (object !== undefined) request.object = fromTyped(parseJson(object));
  return request;
}

const removal = (kind: string, name: string): NodeRequest => ({ op: 'delete', resource: kind, id: name });

/** @throws cascade.resource.not.found */
function installation(space: Namespace, node: string, kind: string, name: string, actor: Actor): NodeRequest {
  const found = space.catalog.definitions.get(kind, name);
  const resource = space.catalog.features.kind(kind);
  if (!found || !resource) throw apiError('cascade.resource.not.found', `/${kind}/${name}`);
  const shown = resource.show?.(space, found) ?? found;
  const constraint = constraintOf(own(shown, 'activationConstraint'));
  const active = constraint === null ? null : isActiveOn(space, node, constraint, actor);
  if (kind === 'rules') return definitionRequest(kind, { ruleText: own(shown, 'ruleText') }, active ?? own(shown, 'active') !== false);
  if (kind === 'procedures') return definitionRequest(kind, { ruleText: own(shown, 'ruleText') }, null);
  const body: ObjectValue = {};
  for (const field of Object.keys(shown)) if (!SET_BY_SERVICE.test(field)) setOwn(body, field, getOwn(shown, field));
  return definitionRequest(kind, body, active);
}

function constraintOf(value: Value): ObjectValue | null {
  if (value === null || value === '') return null;
  const parsed: unknown = typeof value === 'string' ? JSON.parse(value) : value;
  return isObject(parsed) ? parsed : null;
}

/** Evaluates the constraint on this installation's record of the node. */
function isActiveOn(space: Namespace, node: string, constraint: ObjectValue, actor: Actor): boolean {
  const { username, namespace } = actor.identity;
  const predicate = parseWhere(constraint, NODE_SHAPE, { username, namespace, now: actor.clock.now() });
  return matches(predicate, shownNode(space, node));
}
