// Translates a message to a request on a resource in the engine's form (resources-and-api.md 2.17). Pure.
import { apiError } from '../../model/errors/index.ts';
import type { ObjectValue } from '../../stdlib/values/index.ts';
import type { ApiRequest, Identity } from '../../engine/index.ts';
import { federationIn, parameterValues, typedRequest } from '../http/index.ts';
import { memberOf, type Message } from './message.ts';
import { readingOf, UPDATE_WHERE } from './operations.ts';

/** @throws operation.unknown, request.parameter.invalid, federation.hops */
export function apiRequest(message: Message, identity: Identity): ApiRequest {
  const { op } = message;
  if (op === undefined) throw apiError('cascade.operation.unknown', null);
  const federation = federationIn((header) => headerIn(message, header));
  const isUpdateWhere = federation !== undefined && op === 'update' && message.resourceId === undefined;
  const reading = isUpdateWhere ? UPDATE_WHERE : readingOf(op);
  const name = required('resourceName', message.resourceName).replace(/^system\./, '');
  const ofNodes = name === 'nodes' && Object.hasOwn(ON_NODES, op) ? ON_NODES[op]!(message) : undefined;
  const request: ApiRequest = {
    identity,
    op: ofNodes ? 'insert' : (reading.op ?? op),
    resourceName: name,
    custom: null,
    parameters: parameterValues(message.parameters, reading.parameters),
    ...(message.illFormedAt !== undefined && { illFormedAt: message.illFormedAt }),
    ...(message.beyondDoublesAt !== undefined && { beyondDoublesAt: message.beyondDoublesAt }),
    ...(federation && { federation }),
  };
  const requestId = headerIn(message, 'X-Cascade-Request-Id');
  if (requestId !== undefined && !READS.has(op)) request.requestId = requestId;
  if (ofNodes) return { ...request, object: ofNodes };
  const id = reading.id === 'required' ? required('resourceId', message.resourceId) : message.resourceId;
  if (id !== undefined && reading.id !== 'none') request.resourceId = id;
  const object = reading.object === 'required' ? required('object', message.object) : message.object;
  if (object !== undefined && reading.object !== 'none') request.object = object;
  const shape = Object.hasOwn(SHAPES, op) ? SHAPES[op] : undefined;
  return (shape ?? unchanged)(typedRequest(request));
}

/** Operations that change nothing, and are answered anew each time. */
const READS: ReadonlySet<string> = new Set(['select', 'selectOne', 'aggregate']);

/** The value of a parameter with the name of an HTTP header. */
function headerIn({ parameters }: Message, name: string): string | undefined {
  const value = memberOf(parameters, name);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** @throws request.parameter.invalid when it is missing */
export function required<T>(name: string, value: T | undefined): T {
  if (value === undefined) throw apiError('cascade.request.parameter.invalid', name, null);
  return value;
}

/** Commands on the collection of nodes (2.13), with the bodies that say the same by REST. */
const ON_NODES: Readonly<Record<string, (message: Message) => ObjectValue>> = {
  updateNode: ({ object }) => ({ op: 'updateNode', object: required('object', object) }),
  deleteNode: ({ targetName, resourceId }) => ({ op: 'deleteNode', targetName: required('targetName', targetName ?? resourceId) }),
};

const unchanged = (request: ApiRequest): ApiRequest => request;

const SHAPES: Readonly<Record<string, (request: ApiRequest) => ApiRequest>> = {
  /** A pipeline may be in `parameters` or in `object`. */
  aggregate: ({ object, parameters: { pipeline, ...parameters }, ...request }) => ({
    ...request,
    parameters,
    object: required('object', object ?? pipeline),
  }),
  /** The id `<service>/<procedure>` of a service is the procedure `<service>.<procedure>`. */
  execute: (request) =>
    request.resourceName === 'services'
      ? { ...request, resourceName: 'procedures', resourceId: request.resourceId!.replace('/', '.') }
      : request,
};
