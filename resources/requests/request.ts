// Parts of a request that several operations read: its id, its preconditions, whether it asks for a count.

import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { ApiReply, ApiRequest } from '../api.ts';
import { apiError } from '../../model/errors/index.ts';
import { versionIn } from '../instances/index.ts';
import { versionOf } from '../representation/index.ts';
import type { Resource } from '../catalog/index.ts';

/** Whether the answer about one instance is an array of one: for types always, for system resources where they say so (2). */
export const answersArray = (resource: Resource): boolean => resource.kind === 'instances' && resource.answers !== 'object';

export const NO_CONTENT: ApiReply = { status: 204 };

export const reply = (body: string): ApiReply => ({ status: 200, body });

export const counted = (request: ApiRequest, count: number): { count?: number } => (request.parameters['count'] === true ? { count } : {});

export function idOf(request: ApiRequest): string {
  if (request.resourceId === undefined) throw apiError('cascade.request.parameter.invalid', 'resourceId', null);
  return request.resourceId;
}

/** The body, or for program texts the object made from it. */
export function bodyOf(resource: Resource, request: ApiRequest): Value {
  const isProgram = resource.name === 'rules' || resource.name === 'procedures';
  const text = request.text ?? (typeof request.object === 'string' && isProgram ? request.object : undefined);
  const body: Value | undefined = text === undefined ? request.object : { ruleText: text };
  if (body === undefined) throw apiError('cascade.request.body.invalid', 'a body is expected', 0);
  const active = request.parameters['active'];
  if (active === undefined || resource.name !== 'rules' || !isObject(body)) return body;
  return { ...body, active };
}

/** @throws cascade.resource.id.mismatch when the body has another `_id` */
export function checkId(stored: ObjectValue, body: ObjectValue, id: string): void {
  const named = Object.hasOwn(body, '_id') ? getOwn(body, '_id') : null;
  if (named !== null && named !== getOwn(stored, '_id')) throw apiError('cascade.resource.id.mismatch', id, named);
}

export const namesVersion = (header: string, version: string): boolean =>
  header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === `"${version}"`);

/**
 * The version of the stored state that If-Match or the body's ars_version expects; undefined: any.
 * @throws cascade.update.authorization.or.version.conflict when it is another one
 */
export function demandedVersion(resource: Pick<Resource, 'kind' | 'name'>, request: ApiRequest, stored: ObjectValue): bigint | undefined {
  const current = versionOf(stored);
  const path = `/${resource.name}/${request.resourceId ?? ''}`;
  const { ifMatch } = request;
  if (ifMatch !== undefined) {
    if (ifMatch.split(',').some((one) => one.trim() === '*')) return undefined; // whatever its version is (RFC 9110 13.1.1)
    if (namesVersion(ifMatch, String(current))) return current;
    throw apiError('cascade.update.authorization.or.version.conflict', path, ifMatch.replace(/^(W\/)?"(.*)"$/, '$2'), current);
  }
  const named = request.op === 'update' ? versionIn(resource, request.object ?? null) : undefined;
  if (named !== undefined && named !== current)
    throw apiError('cascade.update.authorization.or.version.conflict', path, Number(named), current);
  return named;
}
