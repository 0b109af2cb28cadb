// Where a path of a condition leads: which declared type its values have, and where storage keeps them.
import { type PropertyDefinition, SYSTEM_PROPERTIES, type SystemProperty, type TypeDefinition } from '../types/index.ts';
import { apiError } from '../errors/index.ts';
import { isPosition } from './leaves.ts';
import type { ConditionPath, Kind } from './types.ts';

/** What the first step of a path may be: a property of an instance, or a member of an element in `$elemMatch`. */
export type Scope = (text: string) => ConditionPath;

/** Paths of the instances of a type; without a type only `_id` and the system properties are typed. */
export const instanceScope =
  (type: TypeDefinition | null): Scope =>
  (text) => {
    const steps = stepsOf(text);
    const [name, ...rest] = steps as [string, ...string[]];
    if (name === '_id') return finish(text, steps, 'Id', false, rest.length === 0);
    if (Object.hasOwn(SYSTEM_PROPERTIES, name)) {
      const base = SYSTEM_PROPERTIES[name as SystemProperty];
      const isUsername = name === 'ars_createdBy' || name === 'ars_modifiedBy';
      return property(text, steps, rest, { base, multi: name === 'ars_relationships', ...(isUsername && { isUsername }) });
    }
    if (type === null) return finish(text, steps, 'Json', false, true);
    const declared = type.properties.get(name);
    if (!declared) return finish(text, steps, 'Json', false, false);
    if (isSecret(declared, rest)) throw apiError('cascade.query.property.forbidden', text);
    return property(text, steps, rest, declared);
  };

/** Paths of elements without a declared type. */
export const dataScope: Scope = (text) => finish(text, stepsOf(text), 'Json', false, true);

/** Paths of elements that have the members of a type. */
export const structureScope =
  (structure: TypeDefinition): Scope =>
  (text) => {
    const steps = stepsOf(text);
    return member(text, steps, steps, structure);
  };

/** Paths of elements that are ResourceReferences. */
export const referenceScope: Scope = (text) => {
  const steps = stepsOf(text);
  return reference(text, steps, steps);
};

/** Encrypted properties and secrets of system resources stay out of conditions and sort orders. */
export const isSecret = (declared: PropertyDefinition, inside: readonly string[] = []): boolean =>
  declared.encrypted ||
  declared.hidesMember?.(inside) === true ||
  (Object.hasOwn(declared.other, 'secret') && declared.other.secret === true);

/** Of a path: values are not nested deeper. */
const MOST_STEPS = 100;

/** Steps that begin with `$` are refused, as operators in a wrong place. */
function stepsOf(text: string): string[] {
  const steps = text.split('.');
  if (steps.length > MOST_STEPS) throw apiError('cascade.query.too.expensive', 'depth');
  const operator = steps.find((step) => step.startsWith('$'));
  if (operator !== undefined) throw apiError('cascade.query.operator.unknown', operator, text);
  return steps;
}

type Declared = Pick<PropertyDefinition, 'base' | 'multi' | 'structure' | 'anything' | 'isUsername'>;

/** A declared property, and what `rest` names inside it. */
function property(text: string, steps: readonly string[], rest: readonly string[], declared: Declared): ConditionPath {
  const { base, multi, structure, anything, isUsername } = declared;
  const byPosition = multi && rest.length > 0 && isPosition(rest[0] as string);
  const inner = byPosition ? rest.slice(1) : rest;
  const many = multi && !byPosition;
  if (inner.length === 0)
    return { ...finish(text, steps, anything ? 'Json' : base, many, true), structure, ...(isUsername && { isUsername }) };
  const path = inside(text, steps, inner, declared, many);
  return many && path.known ? { ...path, spread: true } : path;
}

/** What the steps name inside a declared property. */
function inside(
  text: string,
  steps: readonly string[],
  inner: readonly string[],
  { base, structure }: Declared,
  many: boolean,
): ConditionPath {
  switch (base) {
    case 'Object': {
      const members = structure?.();
      return members ? member(text, steps, inner, members) : finish(text, steps, 'Json', false, true);
    }
    case 'GeoJSON':
      return finish(text, steps, 'Json', false, true);
    case 'ResourceReference':
      return reference(text, steps, inner);
    case 'Currency':
      return currencyPart(text, steps, inner, many);
    default:
      return finish(text, steps, 'Json', false, false);
  }
}

/** A member of an Object with another type's properties; its values are stored as those of any Object. */
function member(text: string, steps: readonly string[], rest: readonly string[], structure: TypeDefinition): ConditionPath {
  const [name, ...inner] = rest as [string, ...string[]];
  const declared = structure.properties.get(name);
  if (!declared) return finish(text, steps, 'Json', false, true);
  if (isSecret(declared)) throw apiError('cascade.query.property.forbidden', text);
  const path = property(text, steps, inner, declared);
  return { ...path, stored: path.steps.join('.'), asData: true };
}

function reference(text: string, steps: readonly string[], rest: readonly string[]): ConditionPath {
  const known = rest.length === 1 && (rest[0] === 'resource' || rest[0] === 'resourceId');
  return finish(text, steps, rest[0] === 'resource' ? 'ResourceName' : 'String', false, known);
}

function currencyPart(text: string, steps: readonly string[], rest: readonly string[], multi: boolean): ConditionPath {
  const part = rest.length === 1 && (rest[0] === 'code' || rest[0] === 'value') ? rest[0] : null;
  if (part === null) return finish(text, steps, 'Json', false, false);
  const whole = steps.slice(0, -1);
  const path = finish(text, whole, part === 'code' ? 'String' : 'Decimal', multi, true);
  return { ...path, stored: `${whole.join('.')}.${part === 'code' ? 'c' : 'v'}`, part };
}

function finish(text: string, steps: readonly string[], kind: Kind, multi: boolean, known: boolean): ConditionPath {
  return { text, steps, stored: steps.join('.'), kind, multi, known, indexed: steps.slice(1).some(isPosition), part: null, asData: false };
}
