// Reads the fields of a body that is not an instance of a type.
import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { isServiceSet } from '../../model/types/index.ts';

/** A body whose members may all be left out. @throws cascade.request.body.invalid */
export function objectOf(value: Value): ObjectValue {
  if (value === null) return {};
  if (!isObject(value)) throw apiError('cascade.request.body.invalid', 'an object is expected', 0);
  return value;
}

/** The text of a field; null when it is not set. */
export function textIn(resource: string, body: ObjectValue, name: string): string | null {
  const value = Object.hasOwn(body, name) ? getOwn(body, name) : null;
  if (value !== null && typeof value !== 'string') throw apiError('cascade.resource.property.invalid', resource, name, 'no String');
  return value;
}

export function requiredText(resource: string, body: ObjectValue, name: string): string {
  const text = textIn(resource, body, name);
  if (text === null) throw apiError('cascade.resource.property.required', resource, name);
  return text;
}

/** @throws cascade.resource.property.unknown */
export function requireKnown(resource: string, body: ObjectValue, known: readonly string[]): void {
  const stranger = Object.keys(body).find((name) => !isServiceSet(name) && !known.includes(name));
  if (stranger !== undefined) throw apiError('cascade.resource.property.unknown', resource, stranger);
}
