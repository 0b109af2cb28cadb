// Instances of which a caller with rights on its own part only sees a part (`seen` of a resource).
import { getOwn, isObject, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import type { Resource } from '../catalog/index.ts';

/**
 * Refuses conditions and sort orders that name a property which is seen in part: the answer would tell of the rest.
 * @throws cascade.query.property.forbidden
 */
export function refuseInPart(resource: Resource, ...asked: readonly (Value | undefined)[]): void {
  const properties = resource.kind === 'instances' ? (resource.seen?.inPart ?? []) : [];
  if (properties.length > 0) for (const one of asked) refuseNamed(properties, one);
}

function refuseNamed(properties: readonly string[], asked: Value | undefined): void {
  if (Array.isArray(asked)) for (const one of asked) refuseNamed(properties, one);
  if (asked === undefined || !isObject(asked)) return;
  for (const path of Object.keys(asked)) {
    if (properties.includes(path.split('.', 1)[0] as string)) throw apiError('cascade.query.property.forbidden', path);
    if (path.startsWith('$')) refuseNamed(properties, getOwn(asked, path));
  }
}
