// Instances as changes leave them that are not stored yet, for runs that go on from there (runtime/runs/contention.ts).

import { BSON } from 'mongodb';
import type { ObjectValue } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { Pending } from '../../runtime/transactions/index.ts';
import { instanceFromBson } from '../../model/values/index.ts';
import type { InstanceResource } from '../catalog/index.ts';

/** The instance, and how the store will have it. */
export function pendingInstance(
  resource: InstanceResource,
  { document }: Pending,
): { readonly instance: ObjectValue; readonly row: Uint8Array } {
  const row = BSON.serialize(document);
  return { instance: instanceFromBson(resource.type, row), row };
}

/** The instance with this id that the actor goes on from; null: it is read. @throws RestartRun when it was not stored */
export function followedInstance(resource: InstanceResource, id: string, { readSet }: Actor): ObjectValue | null {
  const pending = readSet?.followed(resource.collection).find((one) => one.id.toHexString() === id);
  return pending ? pendingInstance(resource, pending).instance : null;
}
