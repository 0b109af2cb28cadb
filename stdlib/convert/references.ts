// ResourceReference: the text `/<resource>/<id>` and the internal form `{resource, resourceId}` (resources-and-api.md 5.8).
import { isReference, type ObjectValue, type Value } from '../values/index.ts';
import { unconvertible } from './conversion-error.ts';

/** The internal form of either form; `custom/` in front of a type's name is dropped. Its members are in this order, whatever the writer's. */
export function toReference(value: Value): ObjectValue {
  if (!isReference(value)) return ofText(value, typeof value === 'string' ? value.trim() : '');
  const { resource, resourceId } = value;
  // As the text of it would be read, but a resource has no slash in its name, which the text could not tell from the id.
  if (resource === 'custom') return ofText(value, `/custom/${resourceId}`);
  const name = resource.startsWith('custom/') ? resource.slice('custom/'.length) : resource;
  if (name === '' || name.includes('/') || resourceId === '') return unconvertible(value, 'ResourceReference');
  return { resource: name, resourceId };
}

function ofText(value: Value, written: string): ObjectValue {
  const [, resource, resourceId] = /^\/(?:custom\/)?([^/]+)\/([\s\S]+)$/.exec(written) ?? [];
  if (resource === undefined || resourceId === undefined) return unconvertible(value, 'ResourceReference');
  return { resource, resourceId };
}
