// Texts with a lone surrogate: JSON can spell them, nothing can store or send them (resources-and-api.md 5.1). In an instance they are a value
// that does not fit, everywhere else a body that is wrong.

import { getOwn, isObject, type Value } from '../../stdlib/values/index.ts';
import type { ApiRequest } from '../api.ts';
import { apiError } from '../../model/errors/index.ts';
import { resolve, type Namespace } from '../catalog/index.ts';

const REASON = 'lone surrogate';
const WRITES: ReadonlySet<string> = new Set(['insert', 'upsert', 'update', 'patch']);

/** @throws type.property.invalid, request.body.invalid; always */
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

/** The property of the first instance that has one of them. */
function propertyIn(body: Value): string | undefined {
  for (const one of Array.isArray(body) ? body : [body])
    if (isObject(one)) for (const name of Object.keys(one)) if (!name.isWellFormed() || isIllFormed(getOwn(one, name))) return name;
  return undefined;
}

/** What the operations of a patch put where. */
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
