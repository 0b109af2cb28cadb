// Checks messages of topics with a type (integrations.md 9.2): they must be valid as an instance of it. They are published unchanged.

import { deepCopy, getOwn, type Value } from '../../stdlib/values/index.ts';
import { apiError, isApiError } from '../../model/errors/index.ts';
import { checkFinal, prepareChanges } from '../../model/types/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';

/** @throws cascade.topic.message.invalid */
export function checkMessage(space: Pick<Namespace, 'catalog'>, topic: string, message: Value): void {
  const registered = space.catalog.definitions.get('topics', topic);
  const name = registered && Object.hasOwn(registered, 'messageType') ? getOwn(registered, 'messageType') : null;
  if (typeof name !== 'string') return;
  const type = space.catalog.types.get(name);
  if (!type) throw apiError('cascade.topic.message.invalid', topic, `there is no type ${name}`);
  try {
    const { values } = prepareChanges(type, message);
    for (const property of type.properties.values())
      if (property.default !== undefined && !Object.hasOwn(values, property.name)) values[property.name] = deepCopy(property.default);
    checkFinal({ ...type, groupRequired: false }, values);
  } catch (error) {
    if (!isApiError(error)) throw error;
    throw apiError('cascade.topic.message.invalid', topic, error.message);
  }
}
