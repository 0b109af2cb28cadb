// System properties that all resources of the installation show, and those that callers set (resources-and-api.md 1.3).
import { DateTime, getOwn, isObject, type ObjectValue } from '../../stdlib/values/index.ts';
import type { UserRecord } from '../../identity/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { parseJson, toJson } from '../../model/values/index.ts';
import { requireData } from '../../resources/definitions/index.ts';

type Made = Pick<UserRecord, 'version' | 'createdAt' | 'createdBy' | 'modifiedAt' | 'modifiedBy' | 'properties'>;

/** Every look-up of an account reads those of its namespace. */
const LONGEST_PROPERTIES = 65_536;

/** @param namespace null: the object belongs to no namespace */
export const systemPropertiesOf = (
  namespace: string | null,
  { version, createdAt, createdBy, modifiedAt, modifiedBy, properties }: Made,
): ObjectValue => ({
  ...(namespace !== null && { ars_namespace: namespace }),
  ars_version: version,
  ars_createdAt: new DateTime(createdAt.getTime()),
  ars_createdBy: createdBy,
  ...(modifiedAt && { ars_modifiedAt: new DateTime(modifiedAt.getTime()) }),
  ...(modifiedBy !== null && { ars_modifiedBy: modifiedBy }),
  ...(properties !== null && { ars_properties: parseJson(properties) }),
});

/**
 * `ars_properties` of a body as JSON.
 * @returns undefined: it is not named; null: there are to be none
 * @throws cascade.resource.property.invalid, .resource.too.large
 */
export function propertiesIn(resource: string, body: ObjectValue): string | null | undefined {
  if (!Object.hasOwn(body, 'ars_properties')) return undefined;
  const given = getOwn(body, 'ars_properties');
  if (given === null) return null;
  if (!isObject(given)) throw apiError('cascade.resource.property.invalid', resource, 'ars_properties', 'no Object');
  requireData(resource, 'ars_properties', given);
  const json = toJson(given);
  if (json.length > LONGEST_PROPERTIES) throw apiError('cascade.resource.too.large', LONGEST_PROPERTIES);
  return json;
}
