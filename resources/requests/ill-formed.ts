// Refuses texts with a lone surrogate: JSON can express them, but they can be neither stored nor sent (resources-and-api.md 5.1). In an
// instance the error is that of an invalid value, elsewhere that of an invalid body. Likewise numbers beyond every double, which nothing can keep: where a
// condition or a property says what it takes, it refuses them itself.

import { getOwn, isObject, type Value } from '../../stdlib/values/index.ts';
import type { ApiRequest } from '../api.ts';
import { apiError } from '../../model/errors/index.ts';
import { resolve, type Namespace } from '../catalog/index.ts';

const REASON = 'lone surrogate';
const WRITES: ReadonlySet<string> = new Set(['insert', 'upsert', 'update', 'patch']);
const WITH_CONDITIONS: ReadonlySet<string> = new Set(['select', 'selectOne', 'delete', 'deleteOne', 'aggregate']);

/** @throws type.property.invalid, request.body.invalid: it never returns */
export function refuseIllFormed(space: Namespace, request: ApiRequest, offset: number): never {
  const { op, resourceName, custom, object = null } = request;
  if (WRITES.has(op) && !space.catalog.features.installationResource(resourceName, custom)) {
    const resource = resolve(space, resourceName, custom);
    const name = propertyIn(op === 'patch' ? patched(object) : object);
    if (resource.kind === 'instances' && name !== undefined && name.isWellFormed()) {
      const expected = resource.type.properties.get(name)?.base ?? 'String';
      throw apiError('cascade.type.property.invalid', resource.name, name, expected, REASON);
    }
  }
  throw apiError('cascade.request.body.invalid', REASON, offset);
}

/** @throws request.body.invalid */
export function refuseBeyondDoubles(space: Namespace, { op, resourceName, custom }: ApiRequest, offset: number): void {
  if (WITH_CONDITIONS.has(op)) return;
  const isInstance = WRITES.has(op) && !space.catalog.features.installationResource(resourceName, custom);
  if (isInstance && resolve(space, resourceName, custom).kind === 'instances') return;
  throw apiError('cascade.request.body.invalid', 'number out of range', offset);
}

/** The property of the first instance with such a text. */
function propertyIn(body: Value): string | undefined {
  for (const one of Array.isArray(body) ? body : [body])
    if (isObject(one)) for (const name of Object.keys(one)) if (!name.isWellFormed() || isIllFormed(getOwn(one, name))) return name;
  return undefined;
}

/** The values that a patch's operations set, by property. */
function patched(operations: Value): Value {
  return (Array.isArray(operations) ? operations : [operations]).map((operation): Value => {
    if (!isObject(operation) || !Object.hasOwn(operation, 'value')) return {};
    const [name = ''] = String(Object.hasOwn(operation, 'path') ? getOwn(operation, 'path') : '')
      .replace(/^\//, '')
      .split('/');
    return { [name]: getOwn(operation, 'value') };
  });
}

function isIllFormed(value: Value): boolean {
  if (typeof value === 'string') return !value.isWellFormed();
  if (Array.isArray(value)) return value.some(isIllFormed);
  return isObject(value) && Object.keys(value).some((key) => !key.isWellFormed() || isIllFormed(getOwn(value, key)));
}
