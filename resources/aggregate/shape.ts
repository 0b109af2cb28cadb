// The shape of documents between two stages: which of their members still are properties of the type, and where a caller's field path leads
// in the store.

import { isSecret } from '../../model/query/index.ts';
import { apiError } from '../../model/errors/index.ts';
import type { Value } from '../../stdlib/values/index.ts';
import type { Holder } from '../scalars/index.ts';
import type { MoneyText } from './money-text.ts';
import {
  type BaseType,
  type PropertyDefinition,
  SYSTEM_PROPERTIES,
  type SystemProperty,
  type TypeDefinition,
} from '../../model/types/index.ts';

export interface Shape {
  readonly type: TypeDefinition;
  /** Top-level names (properties, system properties, `_id`) that still have the meaning of the type. */
  readonly typed: ReadonlySet<string>;
  /** Other top-level names whose values are made of those of scalars, which clients see in their external form. */
  readonly computed: ReadonlyMap<string, Holder>;
  /** Nothing was added or computed, so members that the type does not declare are hidden. */
  readonly whole: boolean;
  /** Whether `_id` is stored as text (definitions) and not as an ObjectId. */
  readonly textId: boolean;
}

export const shapeOf = (type: TypeDefinition, textId: boolean): Shape => ({
  type,
  typed: new Set(['_id', ...type.properties.keys(), ...Object.keys(SYSTEM_PROPERTIES)]),
  computed: new Map(),
  whole: true,
  textId,
});

export const untyped = (shape: Shape): Shape => ({ ...shape, typed: new Set(), computed: new Map(), whole: false });

/** The shape after a stage that gives these names other values. */
export const without = (shape: Shape, names: Iterable<string>): Shape => {
  const typed = new Set(shape.typed);
  const computed = new Map(shape.computed);
  for (const name of names) for (const kept of [typed, computed]) kept.delete(name.split('.', 1)[0] as string);
  return { ...shape, typed, computed, whole: false };
};

/** The shape after a stage that keeps these names only. */
export const keeping = (shape: Shape, names: readonly string[]): Shape => ({
  ...shape,
  typed: new Set(names.filter((name) => shape.typed.has(name))),
  computed: new Map([...shape.computed].filter(([name]) => names.includes(name))),
  whole: false,
});

export interface Field {
  /** The path in the store. */
  readonly path: string;
  readonly property?: PropertyDefinition;
  readonly base?: BaseType;
  /** Whether the path is the property or system property itself, or that of an Object with another type's properties. */
  readonly isWhole: boolean;
  /** Whether the value is an ObjectId, which clients see as text. */
  readonly isObjectId: boolean;
  /** Set for a Currency inside an Object, and its parts. */
  readonly money?: MoneyText;
}

/** @throws cascade.query.operand.invalid for an invalid path, cascade.query.property.forbidden for encrypted properties */
export function fieldAt(shape: Shape, path: string, operator: string): Field {
  const steps = path.split('.');
  if (steps.some((step) => step === '' || step.startsWith('$') || step.includes('\0')))
    throw apiError('cascade.query.operand.invalid', path, operator);
  const [name = '', ...rest] = steps;
  const isWhole = rest.length === 0;
  const isObjectId = name === '_id' && isWhole && !shape.textId && shape.typed.has(name);
  if (!shape.typed.has(name)) return { path, isWhole, isObjectId };
  const property = shape.type.properties.get(name);
  if (!property) {
    const base = Object.hasOwn(SYSTEM_PROPERTIES, name) ? SYSTEM_PROPERTIES[name as SystemProperty] : undefined;
    return { path, isWhole, isObjectId, ...(base && { base }) };
  }
  if (isSecret(property, rest)) throw apiError('cascade.query.property.forbidden', path);
  const nested = isWhole || !property.structure ? null : memberAt(property, path, rest);
  if (nested) return { path, isObjectId, ...nested };
  return { path: property.base === 'Currency' ? currencyPath(steps) : path, property, base: property.base, isWhole, isObjectId };
}

/** The property of another type that a path into an Object leads to; null where none is declared. */
function memberAt(
  whole: PropertyDefinition,
  path: string,
  steps: readonly string[],
): Pick<Field, 'property' | 'base' | 'isWhole' | 'money'> | null {
  let property = whole;
  let arrays = whole.multi ? 1 : 0;
  for (const [at, step] of steps.entries()) {
    const rest = steps.slice(at + 1);
    const declared = property.structure?.()?.properties.get(step);
    if (!declared) return null;
    if (isSecret(declared, rest)) throw apiError('cascade.query.property.forbidden', path);
    property = declared;
    if (declared.multi) arrays++;
    const [part] = rest;
    if (declared.base === 'Currency' && rest.length === 1 && (part === 'code' || part === 'value'))
      return { isWhole: false, money: { path: path.slice(0, -part.length - 1), part, arrays } };
  }
  const money = property.base === 'Currency' ? { path, part: null, arrays } : undefined;
  return { property, base: property.base, isWhole: true, ...(money && { money }) };
}

/** The stored path of `.code` or `.value` of a Currency. */
function currencyPath(steps: readonly string[]): string {
  const last = steps[steps.length - 1];
  const stored = steps.length > 1 && last !== undefined && Object.hasOwn(PARTS, last) ? PARTS[last]! : last!;
  return [...steps.slice(0, -1), stored].join('.');
}

/** Parts of a Currency as clients and as the store name them; what only the store knows is not there for clients. */
const PARTS: Readonly<Record<string, string>> = { code: 'c', value: 'v', c: 'code', v: 'value' };

/** An expression that has to be an Object: a Currency is one in the store only. @throws cascade.query.operand.invalid */
export function requireObject(operand: Value, shape: Shape, operator: string): void {
  const one = Array.isArray(operand) && operand.length === 1 ? operand[0] : operand;
  if (typeof one !== 'string' || !/^\$[^$]/.test(one)) return;
  const { base, isWhole } = fieldAt(shape, one.slice(1), operator);
  if (base === 'Currency' && isWhole) throw apiError('cascade.query.operand.invalid', one, operator);
}

export const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Checks the name that a stage gives to a value. @throws cascade.query.operand.invalid */
export function newName(name: unknown, operator: string): string {
  if (typeof name === 'string' && NAME.test(name) && name !== '__proto__') return name;
  throw apiError('cascade.query.operand.invalid', typeof name === 'string' ? name : '', operator);
}
