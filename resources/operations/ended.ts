// The deletion of instances whose removal is more than that of their rows (InstanceResource.end).
import { toFilter } from '../../model/query/index.ts';
import type { Value } from '../../stdlib/values/index.ts';
import type { Actor } from '../../runtime/context/index.ts';
import type { InstanceResource, Namespace } from '../catalog/index.ts';
import { condition, read } from '../instances/index.ts';

/** Number of instances that a deletion reads at a time. */
const AT_A_TIME = 1_000;

/** Ends all that satisfy the condition. @returns how many; null: none is ended, as of this resource a deletion is that of rows. */
export async function endedBy(space: Namespace, resource: InstanceResource, where: Value, actor: Actor): Promise<number | null> {
  if (!resource.end) return null;
  const filter = toFilter(await condition(space, resource, where, actor));
  for (let count = 0; ; ) {
    const some = await read(space, resource, filter, AT_A_TIME);
    if (some.length === 0) return count;
    for (const stored of some) await resource.end(space, String(stored['name']));
    count += some.length;
  }
}
