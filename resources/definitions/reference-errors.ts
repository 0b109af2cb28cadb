// The errors that a stored definition gets when a type that it names is gone (resources-and-api.md 4.1).

import type { ObjectValue, Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import type { Namespace } from '../catalog/index.ts';

/** A definition with an error for each type that it names and that is not there (any more). */
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
