// PUBLISH and EXECUTE (resources-and-api.md 2.10, 2.11).

import { langError } from '../../stdlib/errors.ts';
import { decodeInner, encodeInner, getOwn, isObject, type ObjectValue } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { ApiReply, ApiRequest } from '../api.ts';
import { namespaceAndProfiles } from '../../identity/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { runDirect } from '../../runtime/runs/index.ts';
import { decodeInnerInPieces, innerToJson, toJson, toTypedJson, toTypedJsonInPieces } from '../../model/values/index.ts';
import { finishInSlices, type MaybePromise } from '../../platform/structures/index.ts';
import { AHEAD_BYTES } from '../representation/index.ts';
import { calledAs } from '../access/index.ts';
import type { Namespace, Resource } from '../catalog/index.ts';
import { elementsOf, flushingOf, piecesOf } from './elements.ts';
import { idOf, reply } from './request.ts';

/** Handles PUBLISH, QUERY and STATUS by the feature of the resource. */
const answered =
  (operation: 'publish' | 'query' | 'status' | 'channels') =>
  async (space: Namespace, resource: Resource, request: ApiRequest, actor: Actor): Promise<ApiReply> => {
    const answer = space.catalog.features.answer(resource.name, operation);
    if (!answer) throw apiError('cascade.method.not.allowed', operation, resource.name);
    return answer(space, request, actor);
  };

export const publish = answered('publish');
export const query = answered('query');
export const status = answered('status');
/** The channels of a chatbot (integrations.md 6.3). */
export const channels = answered('channels');

export async function execute(space: Namespace, _resource: Resource, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  const name = idOf(request);
  if (name.replace(/^system\./, '') === 'Utils.getNamespaceAndProfiles' && !request.publicOnly)
    return reply(toJson(namespaceAndProfiles(actor.identity)));
  const flushing = flushingOf(request.parameters);
  const inner = await executeProcedure(space, name, request, actor);
  if (request.federation?.isTyped) return { ...reply(await typedText(space.name, inner)), isTyped: true };
  if (request.streams !== true) return reply(innerToJson(inner));
  // A long value is sent in pieces even where the client did not ask for single elements.
  if (inner.length > AHEAD_BYTES) return { status: 200, pieces: piecesOf(space.name, inner) };
  const value = request.parameters['stream'] === true ? decodeInner(inner) : null;
  return Array.isArray(value) ? { status: 200, pieces: elementsOf(value, flushing) } : reply(innerToJson(inner));
}

/** A short text, whose conversion takes less than a millisecond. */
const SHORT_CHARACTERS = 16_384;

function typedText(namespace: string, inner: string): MaybePromise<string> {
  if (inner.length <= SHORT_CHARACTERS) return toTypedJson(decodeInner(inner));
  const work = function* (): Generator<undefined, string> {
    return yield* toTypedJsonInPieces(yield* decodeInnerInPieces(inner));
  };
  return finishInSlices(namespace, work());
}

/** The value of a procedure as inner JSON. */
export async function executeProcedure(space: Namespace, name: string, request: ApiRequest, actor: Actor): Promise<string> {
  const procedure = procedureAt(space, name);
  if (!procedure) throw apiError('cascade.resource.not.found', `/procedures/${name}`);
  const identity = calledAs(space, procedure.name, actor.identity);
  if (getOwn(procedure.object, 'visibility') === 'PRIVATE') throw langError('cascade.procedure.private', procedure.name);
  requireRested(space, `/procedures/${procedure.name}`);
  const args = request.object ?? [];
  if (!Array.isArray(args) && !isObject(args)) throw apiError('cascade.request.body.invalid', 'arguments are an array or an object', 0);
  return runDirect(space.execution.runs, {
    executable: { resource: `/procedures/${procedure.name}`, name: procedure.name, service: null },
    body: { program: null, procedure: procedure.name },
    argsJson: Array.isArray(args) ? encodeInner(args) : '[]',
    namedJson: Array.isArray(args) ? null : encodeInner(args),
    identity,
    caller: { ...actor, headers: request.headers ?? actor.headers },
    snapshot: 'outermost',
    ...(request.federation && { toNode: true }),
    ...(request.federation?.deadlineMs !== undefined && { deadlineMs: request.federation.deadlineMs }),
  });
}

/** The procedure of this name or `_id`; before the dot may be the `_id` of its service (1.2). */
function procedureAt({ catalog: { definitions } }: Namespace, id: string): { name: string; object: ObjectValue } | undefined {
  const [, service, ofService] = /^([0-9a-f]{24})\.(.+)$/s.exec(id) ?? [];
  const owner = service === undefined ? undefined : definitions.find('services', service);
  return definitions.find('procedures', id) ?? (owner && definitions.find('procedures', `${owner.name}.${ofService}`));
}

/** @throws cascade.execution.suspended while the error breaker of the procedure is open (resources-and-api.md 9.2) */
function requireRested(space: Namespace, resource: string): void {
  const restMs = space.execution.runs.errorBreaker.restMs(resource, space.execution.runs.limits().errorBreaker);
  if (restMs === 0) return;
  const suspended = apiError('cascade.execution.suspended', resource);
  suspended.retryAfterSeconds = Math.ceil(restMs / 1_000);
  throw suspended;
}
