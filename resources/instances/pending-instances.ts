// Instances with pending changes, for runs that continue from these (runtime/runs/contention.ts).

import { BSON } from 'mongodb';
import type { ObjectValue } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { Pending } from '../../runtime/transactions/index.ts';
import { instanceFromBson } from '../../model/values/index.ts';
import type { InstanceResource } from '../catalog/index.ts';

/** The instance with its pending change, and its future stored form. */
export function pendingInstance(
  resource: InstanceResource,
  { document }: Pending,
): { readonly instance: ObjectValue; readonly row: Uint8Array } {
  const row = BSON.serialize(document);
  return { instance: instanceFromBson(resource.type, row), row };
}

/**
 * The pending state of an instance that the actor follows; null: the store has to be read. @throws RestartRun when the change could not be
 * stored
 */
export function followedInstance(resource: InstanceResource, id: string, { readSet }: Actor): ObjectValue | null {
  const pending = readSet?.followed(resource.collection).find((one) => one.id.toHexString() === id);
  return pending ? pendingInstance(resource, pending).instance : null;
}
