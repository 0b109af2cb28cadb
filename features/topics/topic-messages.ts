// Checks messages of topics with a type (integrations.md 9.2): they must be valid as an instance of it in its external form, as clients
// and events have it. They are published unchanged.

import { deepCopy, getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { apiError, isApiError } from '../../model/errors/index.ts';
import { checkFinal, coerceDescribed, prepareChanges, type TypeDefinition } from '../../model/types/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import { isConverted } from '../../resources/scalars/index.ts';

/** @throws cascade.topic.message.invalid */
export function checkMessage(space: Pick<Namespace, 'catalog'>, topic: string, message: Value): void {
  const registered = space.catalog.definitions.get('topics', topic);
  const name = registered && Object.hasOwn(registered, 'messageType') ? getOwn(registered, 'messageType') : null;
  if (typeof name !== 'string') return;
  const type = space.catalog.types.get(name);
  if (!type) throw apiError('cascade.topic.message.invalid', topic, `there is no type ${name}`);
  try {
    if (isConverted(type) && isObject(message)) return void coerceDescribed(type, withDefaults(type, { ...message }));
    const { values } = prepareChanges(type, message);
    checkFinal({ ...type, groupRequired: false }, withDefaults(type, values));
  } catch (error) {
    if (!isApiError(error)) throw error;
    throw apiError('cascade.topic.message.invalid', topic, error.message);
  }
}

function withDefaults(type: TypeDefinition, values: ObjectValue): ObjectValue {
  for (const property of type.properties.values())
    if (property.default !== undefined && !Object.hasOwn(values, property.name)) values[property.name] = deepCopy(property.default);
  return values;
}
