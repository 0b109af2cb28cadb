// Records of the service one batch after the other, where all are needed and nobody says how many there are.
import type { Document } from 'mongodb';
import type { ObjectValue } from '../../stdlib/values/index.ts';
import { idToBson } from '../../model/values/index.ts';
import type { InstanceResource, Namespace } from '../../resources/catalog/index.ts';
import { read } from '../../resources/instances/index.ts';
import { idOf } from '../../resources/representation/index.ts';

const BATCH = 1_000;

/** By `_id`: what is changed or added meanwhile is found at most once. */
export async function* inBatches(space: Namespace, resource: InstanceResource, filter: Document): AsyncGenerator<ObjectValue> {
  for (let behind: Document = {}; ; ) {
    const batch = await read(space, resource, { $and: [filter, behind] }, BATCH);
    yield* batch;
    const last = batch.at(-1);
    if (!last || batch.length < BATCH) return;
    behind = { _id: { $gt: idToBson(idOf(last)) } };
  }
}
