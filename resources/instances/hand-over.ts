// Instances that become another user's: as an update of each, without events, as nothing of what they say is another thing.
import { Long, type ObjectId } from 'mongodb';
import type { Doer } from '../../runtime/context/actor.ts';
import type { Namespace } from '../catalog/types.ts';

const AT_A_TIME = 1_000;

/**
 * In pieces, each while no tick is in flight: an update that has read one of them before misses its version, and is done anew.
 * @param to whose they are from now on
 */
export async function handOverInstances(space: Namespace, collection: string, from: string, { identity, clock }: Doer): Promise<void> {
  const stored = space.db.collection(collection);
  const own = { ars_createdBy: from };
  let some: ObjectId[] = [];
  const $set = { ars_createdBy: identity.username, ars_modifiedBy: identity.username, ars_modifiedAt: new Date(clock.now()) };
  const handOver = async (): Promise<void> => {
    const ids = some;
    some = [];
    const change = { $set, $inc: { ars_version: Long.ONE } };
    if (ids.length > 0) await space.committer.exclusive(() => stored.updateMany({ _id: { $in: ids }, ...own }, change));
  };
  for await (const { _id } of stored.find(own, { projection: { _id: 1 } })) {
    some.push(_id);
    if (some.length >= AT_A_TIME) await handOver();
  }
  await handOver();
}
