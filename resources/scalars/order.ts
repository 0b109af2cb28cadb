// Orders by a comparator (resources-and-api.md 4.2): the sandbox sorts the distinct values of the property, and the store sorts rows by
// their ranks.

import type { Document } from 'mongodb';
import type { Actor } from '../../runtime/context/index.ts';
import { type SortKey, toSort } from '../../model/query/index.ts';
import { storedProperty } from '../../model/values/index.ts';
import type { InstanceResource, Namespace } from '../catalog/index.ts';
import { sortBy } from './calls.ts';
import { storedValues } from './stored-values.ts';

export interface RankedOrder {
  /** Stages that add the ranks to each row. */
  readonly ranks: Document;
  readonly sort: Document;
  /** The names of the ranks, to be removed afterwards. */
  readonly names: readonly string[];
}

/** The order by ranks; null where no key of the order has a comparator. @throws errors of the comparator; cascade.query.too.expensive */
export async function rankedOrder(
  space: Namespace,
  resource: InstanceResource,
  keys: readonly SortKey[],
  actor: Actor,
): Promise<RankedOrder | null> {
  const ranks: Document = {};
  const paths = new Map<string, string>();
  for (const { path } of keys) {
    const property = path.steps.length === 1 ? resource.type.properties.get(path.text) : undefined;
    if (property?.scalar?.comparator === undefined || paths.has(path.text)) continue;
    const sorted = await sortBy(space, property.scalar, await storedValues(space, resource, property.name, actor), actor);
    const name = `__rank${paths.size}`;
    paths.set(path.text, name);
    const at = {
      $indexOfArray: [{ $literal: sorted.map(([value]) => storedProperty(resource.type, property, value)) }, `$${property.name}`],
    };
    const rankAt = { $arrayElemAt: [{ $literal: sorted.map(([, rank]) => rank) }, '$$at'] };
    // Null and missing come first, as in every order.
    ranks[name] = { $let: { vars: { at }, in: { $cond: [{ $lt: ['$$at', 0] }, -1, rankAt] } } };
  }
  if (paths.size === 0) return null;
  const sort = new Map<string, 1 | -1>();
  for (const [key, direction] of toSort(keys) as Map<string, 1 | -1>) sort.set(paths.get(key) ?? key, direction);
  return { ranks, sort, names: [...paths.values()] };
}
