// The resources that programs' statements name, and who may do what with them.

import { getOwn, type ObjectValue } from '../../stdlib/values/index.ts';
import type { Identity } from '../../identity/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { ownOnly, payloadWith, refuseInPart, requireRight, withOwn } from '../access/index.ts';
import { type InstallationResource, type InstanceResource, type Namespace, type Resource, resolve } from '../catalog/index.ts';
import { text } from './payload.ts';

/** Users, tokens and namespaces belong to the installation. */
export type Selectable = Resource | InstallationResource;

/**
 * The resource of a read, the payload restricted to what the caller may see, and the caller where it sees a part of each instance only.
 * @throws cascade.authorization.denied, cascade.query.property.forbidden
 */
export function readable(
  space: Namespace,
  payload: ObjectValue,
  operation: string,
  caller: Identity,
): [Selectable, ObjectValue, partOf?: string] {
  const name = text(payload, 'resource');
  const account = space.catalog.features.installationResource(name, null);
  if (account) return [account, payload];
  const resource = resolve(space, name, null);
  requireRight(space, resource, operation, caller);
  const own = ownOnly(space, resource, operation, caller);
  if (!own) return [resource, payload];
  const where = getOwn(payload, 'where');
  refuseInPart(resource, where, Object.fromEntries(getOwn(payload, 'orderBy') as [string, boolean][]));
  return [resource, payloadWith(payload, withOwn(where, own)), caller.username];
}

/**
 * The resource of the installation that a change is for; undefined: the resource belongs to the namespace. The operation itself checks
 * rights, as for clients. @throws method.not.allowed
 */
export function changeableAccount(space: Namespace, payload: ObjectValue, operation: string): InstallationResource | undefined {
  const account = space.catalog.features.installationResource(text(payload, 'resource'), null);
  if (account && !account.operations.has(operation)) throw apiError('cascade.method.not.allowed', operation, account.name);
  return account;
}

export function changeable(
  space: Namespace,
  name: string,
  operation: string,
  caller: Identity,
): InstanceResource | (Resource & { kind: 'definitions' }) {
  const resource = resolve(space, name, null);
  if (!resource.operations.has(operation)) throw apiError('cascade.method.not.allowed', operation, resource.name);
  requireRight(space, resource, operation, caller);
  return resource;
}

export function definitionKind(space: Namespace, kind: string): Resource & { kind: 'definitions' } {
  const resource = resolve(space, `${kind}s`, false);
  if (resource.kind !== 'definitions') throw apiError('cascade.resource.type.not.found', `${kind}s`);
  return resource;
}
