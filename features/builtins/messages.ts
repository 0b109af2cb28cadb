// Converts a message of a program to a request (builtins.md 21), with the names and rules of the WebSocket binding (resources-and-api.md
// 2.17).
import { getOwn, isInteger, isObject, type ObjectValue, setOwn, text, type Value } from '../../stdlib/values/index.ts';
import type { ApiRequest, Identity } from '../../resources/api.ts';
import { apiError } from '../../model/errors/index.ts';

const COMMANDS = ['authorizeUser', 'delegateUserAuthZ', 'revokeUserAuthZ'];
/** Operations of client messages (2.17), except logins and subscriptions. Listed one by one: others have a way over HTTP only. */
const KNOWN: ReadonlySet<string> = new Set([
  'select',
  'selectOne',
  'insert',
  'update',
  'upsert',
  'delete',
  'deleteOne',
  'patch',
  'aggregate',
  'publish',
  'execute',
  'query',
  'getAuthorizedUsers',
  ...COMMANDS,
]);
const NEEDS_ID: ReadonlySet<string> = new Set([
  'update',
  'patch',
  'publish',
  'execute',
  'query',
  'deleteOne',
  'getAuthorizedUsers',
  ...COMMANDS,
]);
const NEEDS_OBJECT: ReadonlySet<string> = new Set(['insert', 'update', 'upsert', 'patch', 'publish', 'query']);
const PARAMETERS: ReadonlySet<string> = new Set(['where', 'props', 'sort', 'page', 'limit', 'count', 'pipeline', 'active']);

/**
 * @throws cascade.operation.unknown, cascade.request.parameter.invalid, cascade.namespace.not.authorized
 */
export function requestOf(message: ObjectValue, identity: Identity): ApiRequest {
  const op = own(message, 'op');
  if (typeof op !== 'string' || !KNOWN.has(op)) throw apiError('cascade.operation.unknown', op);
  const targetNamespace = own(message, 'targetNamespace');
  if (targetNamespace !== null && targetNamespace !== identity.namespace)
    throw apiError('cascade.namespace.not.authorized', targetNamespace);
  const named = own(message, 'resourceName');
  if (typeof named !== 'string' || named === '') throw invalid('resourceName', named);
  const isCustom = named.startsWith('custom/');
  const request: ApiRequest = {
    identity,
    op: op === 'deleteOne' ? 'delete' : op,
    resourceName: isCustom ? named.slice('custom/'.length) : named,
    custom: isCustom ? true : null, // otherwise a type or a resource of the service
    parameters: parametersIn(message),
  };
  const resourceId = own(message, 'resourceId');
  if (resourceId !== null && typeof resourceId !== 'string' && !isInteger(resourceId)) throw invalid('resourceId', resourceId);
  if (resourceId !== null) request.resourceId = text(resourceId);
  else if (NEEDS_ID.has(op)) throw invalid('resourceId', null);
  if (Object.hasOwn(message, 'object')) request.object = getOwn(message, 'object');
  else if (NEEDS_OBJECT.has(op)) throw invalid('object', null);
  return request;
}

/** The parameters that operations know; null counts as absent. */
function parametersIn(message: ObjectValue): ObjectValue {
  const given = own(message, 'parameters') ?? {};
  if (!isObject(given)) throw invalid('parameters', given);
  const parameters: ObjectValue = {};
  for (const name of Object.keys(given)) {
    const value = getOwn(given, name);
    if (PARAMETERS.has(name) && value !== null) setOwn(parameters, name, value);
  }
  return parameters;
}

const own = (message: ObjectValue, name: string): Value => (Object.hasOwn(message, name) ? getOwn(message, name) : null);

const invalid = (name: string, value: Value) => apiError('cascade.request.parameter.invalid', name, value);
