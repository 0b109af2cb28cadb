// ResourceReference: the text `/<resource>/<id>` and the internal form `{resource, resourceId}` (resources-and-api.md 5.8).
import { isReference, type ObjectValue, type Value } from '../values/index.ts';
import { unconvertible } from './conversion-error.ts';

/** The internal form of either form; `custom/` in front of a type's name is dropped. */
export function toReference(value: Value): ObjectValue {
  if (isReference(value)) {
    return value.resource === '' || value.resourceId === '' ? unconvertible(value, 'ResourceReference') : value;
  }
  const parts = typeof value === 'string' ? /^\/(?:custom\/)?([^/]+)\/([\s\S]+)$/.exec(value.trim()) : null;
  const [, resource, resourceId] = parts ?? [];
  if (resource === undefined || resourceId === undefined) return unconvertible(value, 'ResourceReference');
  return { resource, resourceId };
}
