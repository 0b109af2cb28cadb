// Reads the distinct stored values of a property, for orders that the store does not know.

import { getOwn, type Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { storedPath } from '../../model/types/index.ts';
import { instanceFromBson } from '../../model/values/index.ts';
import type { InstanceResource, Namespace } from '../catalog/index.ts';

/** Bound of the values that a procedure compares in one request. */
const MOST_VALUES = 1_000;

/** The distinct values without null. @throws cascade.query.too.expensive when there are more than 1,000 */
export async function storedValues(
  space: Namespace,
  { type, collection }: InstanceResource,
  property: string,
  { isGone }: Pick<Actor, 'isGone'>,
): Promise<Value[]> {
  const stages = [
    { $match: { [storedPath(type, property)]: { $ne: null } } },
    { $group: { _id: `$${property}` } },
    { $limit: MOST_VALUES + 1 },
    { $project: { _id: 0, [property]: '$_id' } },
  ];
  // It looks at all instances: among the slow queries of the namespace, and not on the connections of commits.
  const reading = space.storage.rows.aggregate(collection, stages, { isSlow: true, isGone });
  const rows: Uint8Array[] = [];
  try {
    for (let batch = await reading.next(); batch.length > 0; batch = await reading.next()) rows.push(...batch);
  } finally {
    await reading.close();
  }
  if (rows.length > MOST_VALUES) throw apiError('cascade.query.too.expensive', 'comparator');
  return rows.map((row) => getOwn(instanceFromBson(type, row), property));
}
