// What an instance must be when it is stored, after defaults and BEFORE rules (resources-and-api.md 2.4): required, maxLength, group.
import { deepEquals } from '../../stdlib/operators/index.ts';
import { codePointsWithin, getOwn, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { type CascadeError, apiError } from '../errors/index.ts';
import type { PropertyDefinition, TypeDefinition } from './definition.ts';
import { Problems } from './problems.ts';

/**
 * @param stored the instance before an update: what does not suit the type since the type has changed may stay as it is (4.1)
 * @throws CascadeError, or CascadeErrors when several things are wrong
 */
export function checkFinal(type: TypeDefinition, instance: ObjectValue, stored?: ObjectValue): void {
  let problems: Problems | undefined;
  const add = (problem: CascadeError): void => (problems ??= new Problems()).add(problem);
  for (const property of type.properties.values()) {
    const value = getOwn(instance, property.name);
    if (value === null) {
      if (property.required && becomesNull(instance, stored, property.name))
        add(apiError('cascade.type.property.required', type.name, property.name));
    } else if (!fitsMaxLength(property, value) && !(stored && deepEquals(getOwn(stored, property.name), value))) {
      add(apiError('cascade.type.property.invalid', type.name, property.name, property.type, 'maxLength'));
    }
  }
  if (type.groupRequired && getOwn(instance, 'ars_group') === null && becomesNull(instance, stored, 'ars_group'))
    add(apiError('cascade.group.required', type.name, 'ars_group', 'missing'));
  problems?.raise();
}

/** The property is null now, and not just as it was. */
function becomesNull(instance: ObjectValue, stored: ObjectValue | undefined, name: string): boolean {
  return !stored || getOwn(stored, name) !== null || (Object.hasOwn(instance, name) && !Object.hasOwn(stored, name));
}

/** Whether every text of the property's value has at most maxLength code points. */
export function fitsMaxLength({ base, maxLength }: Pick<PropertyDefinition, 'base' | 'maxLength'>, value: Value): boolean {
  if (base !== 'String' || maxLength === undefined) return true;
  return (Array.isArray(value) ? value : [value]).every((text) => typeof text !== 'string' || codePointsWithin(text, maxLength));
}
