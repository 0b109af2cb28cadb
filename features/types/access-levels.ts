// A type's own access levels (resources-and-api.md 7.1, 7.3): a condition per operation, stored with substitutions in place of `$`.

import { getOwn, isObject, type ObjectValue, setOwn } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { storedConstraint } from '../../resources/access/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';
import type { Namespace } from '../../resources/catalog/index.ts';

/** The levels in their stored form. @throws cascade.profile.constraint.invalid for an invalid condition on the type */
export async function accessLevelsOf(space: Namespace, type: TypeDefinition): Promise<ObjectValue> {
  const levels: ObjectValue = {};
  for (const level of Object.keys(type.accessLevels)) {
    const entry = getOwn(type.accessLevels, level);
    if (!isObject(entry)) throw invalid(level, 'no Object');
    const stored: ObjectValue = {};
    for (const name of Object.keys(entry)) {
      const place = { resource: 'types', path: `accessLevels.${level}.${name}` };
      setOwn(stored, name, await storedConstraint(space, type, place, name, getOwn(entry, name)));
    }
    setOwn(levels, level, stored);
  }
  return levels;
}

const invalid = (path: string, reason: string) =>
  apiError('cascade.profile.constraint.invalid', 'types', `accessLevels.${path}`, reason, null);
