// Adds errors to a stored definition when a type that it names does not exist any more (resources-and-api.md 4.1).

import type { ObjectValue, Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import type { Namespace } from '../catalog/index.ts';

/** The definition with an error for each type that it names and that does not exist. */
export function withReferenceErrors(space: Pick<Namespace, 'catalog'>, stored: ObjectValue, names: readonly string[]): ObjectValue {
  const missing = [...new Set(names)].filter(
    (name) => !name.startsWith('system.') && !name.startsWith('Ars') && !space.catalog.types.has(name),
  );
  const errors = missing.map((name): Value => {
    const { code, message } = apiError('cascade.resource.type.not.found', name);
    return { code, message, line: 1, column: 1 };
  });
  return errors.length === 0 ? stored : { ...stored, errors };
}
