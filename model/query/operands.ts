// Constants of a condition, converted for the path they are compared at (resources-and-api.md 3.3, language.md 4.3).
import { ConversionError, convert } from '../../stdlib/convert/index.ts';
import {
  compareDecimals,
  Currency,
  Decimal,
  decimalOfNumber,
  getOwn,
  integer,
  isNumber,
  isObject,
  isReal,
  LocalValue,
  MAX_DATA_DEPTH,
  MAX_INTEGER,
  MIN_INTEGER,
  numberOf,
  type ObjectValue,
  Real,
  rescale,
  setOwn,
  significantDigits,
  type Value,
  XmlNode,
} from '../../stdlib/values/index.ts';
import { CascadeError } from '../errors/index.ts';
import { withoutSystem } from './compare.ts';
import type { PropertyDefinition, TypeDefinition } from '../types/index.ts';
import type { Constant, Kind } from './types.ts';

/** What the store compares with at most (resources-and-api.md 5.5). */
const MAX_DIGITS = 34;

/** @returns undefined when the value does not convert */
export function toConstant(kind: Kind, value: Value): Constant | undefined {
  if (value === null) return null;
  try {
    return conversions(kind, value);
  } catch (error) {
    if (error instanceof ConversionError || error instanceof CascadeError) return undefined;
    throw error;
  }
}

/** An operand of an ordered comparison: an Integer path takes fractions, too. */
export function toRangeConstant(kind: Kind, value: Value): Constant | undefined {
  if (kind !== 'Integer' || !(isReal(value) || value instanceof Decimal) || !Number.isFinite(numberOf(value)))
    return toConstant(kind, value);
  const exact = exactDigits(value);
  return exact ? amongIntegers(exact) : value;
}

/** The digits of a number, where a double would not hold them. */
function exactDigits(value: Value): Decimal | null {
  if (value instanceof Decimal) return value;
  return value instanceof Real && value.text !== undefined ? decimalOfNumber(value) : null;
}

/** What compares with each Integer as the number does, and has no more digits than the store takes: the number itself, or half-way to the next. */
function amongIntegers(exact: Decimal): Constant {
  const unit = 10n ** BigInt(exact.scale);
  const rest = ((exact.unscaled % unit) + unit) % unit;
  const below = (exact.unscaled - rest) / unit;
  if (below > MAX_INTEGER) return new Real(2 ** 63);
  if (below < MIN_INTEGER) return new Real(-(2 ** 64));
  return rest === 0n ? integer(below) : new Decimal(10n * below + 5n, 1);
}

function conversions(kind: Kind, given: Value): Constant | undefined {
  const value = given instanceof XmlNode ? xmlFor(kind, given) : given;
  switch (kind) {
    case 'Json':
      return data(value);
    case 'Object':
      return isObject(value) ? data(value) : undefined;
    case 'Id':
      return convert(value, { type: 'String' }, 'operand');
    case 'String': {
      const text = convert(value, { type: 'String' }, 'operand') as string;
      return text.isWellFormed() ? text : undefined;
    }
    case 'ResourceName':
      return typeof value === 'string' ? withoutSystem(value) : undefined;
    case 'ResourceReference': {
      const { resource, resourceId } = convert(value, { type: kind }, 'operand') as { resource: string; resourceId: string };
      return { resource: withoutSystem(resource), resourceId };
    }
    case 'Real': {
      const number = convert(value, { type: kind }, 'operand');
      return isNumber(number) && Number.isFinite(numberOf(number)) ? number : undefined;
    }
    case 'Decimal':
    case 'Currency': {
      const amount = convert(value, { type: kind }, 'operand');
      const digits = amount instanceof Currency ? amount.amount : (amount as Decimal);
      return significantDigits(digits) > MAX_DIGITS ? undefined : amount;
    }
    default:
      return convert(value, { type: kind }, 'operand');
  }
}

/** XML is its text, and the data of integrations.md 2.7 only where an Object is compared. */
const xmlFor = (kind: Kind, node: XmlNode): Value => (kind === 'Object' ? (node.data() ?? null) : node.text());

/** Data without a declared type: as it is, but a Currency is its text there. Numbers, texts and depths that the store has not are refused. */
function data(value: Value, depth = 0): Constant | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? value : undefined;
  if (typeof value === 'function' || value instanceof LocalValue) return undefined;
  if (value instanceof Currency) return value.toString();
  if (value instanceof Decimal) return significantDigits(value) > MAX_DIGITS ? undefined : value;
  if (isNumber(value)) return Number.isFinite(numberOf(value)) ? value : undefined;
  if (typeof value === 'object' && depth >= MAX_DATA_DEPTH && (Array.isArray(value) || isObject(value))) return undefined;
  if (Array.isArray(value)) {
    const elements = value.map((element) => data(element, depth + 1));
    return elements.includes(undefined) ? undefined : (elements as Value[]);
  }
  if (!isObject(value)) return value;
  const copy: ObjectValue = {};
  for (const name of Object.keys(value)) {
    const member = data(getOwn(value, name), depth + 1);
    if (member === undefined) return undefined;
    setOwn(copy, name, member);
  }
  return copy;
}

// ---------------------------------------------------------------- whole Objects
/**
 * A whole Object to compare with, where the property is typed with another type's name: its members convert as those of an instance do
 * (resources-and-api.md 5.9, language.md W9), to what is stored inside an Object. What that type does not declare stays data.
 * @returns undefined when a member does not convert
 */
export function toWholeObject(type: TypeDefinition, object: ObjectValue, depth = 0): ObjectValue | undefined {
  if (depth >= MAX_DATA_DEPTH) return undefined;
  const whole: ObjectValue = {};
  for (const name of Object.keys(object)) {
    const declared = type.properties.get(name);
    const value = getOwn(object, name);
    const member = declared ? toMember(declared, value, depth + 1) : toConstant('Json', value);
    if (member === undefined) return undefined;
    setOwn(whole, name, member);
  }
  return whole;
}

function toMember(property: PropertyDefinition, value: Value, depth: number): Constant | undefined {
  if (value === null || property.anything) return toConstant('Json', value);
  if (!property.multi) return Array.isArray(value) ? undefined : toElement(property, value, depth);
  if (!Array.isArray(value)) return undefined;
  const elements = value.map((element) => toElement(property, element, depth));
  return elements.includes(undefined) ? undefined : (elements as Value[]);
}

function toElement({ base, scale, structure }: PropertyDefinition, value: Value, depth: number): Constant | undefined {
  const members = structure?.();
  if (members && isObject(value)) return toWholeObject(members, value, depth);
  // As it is stored: `system.` in front of the resource stays, where a condition on the reference alone passes over it.
  if (base === 'ResourceReference')
    return toConstant(base, value) && convert(value instanceof XmlNode ? value.text() : value, { type: base }, 'operand');
  const constant = toConstant(base, value);
  if (base !== 'Currency' || constant === null || constant === undefined) return constant;
  return constant instanceof Currency ? textOf(constant, scale ?? 0) : undefined; // an amount in any currency is no value
}

/** A Currency inside an Object is its text, with the digits of its property. */
function textOf({ code, amount }: Currency, scale: number): string {
  const stored = rescale(amount, scale);
  return new Currency(code, compareDecimals(stored, amount) === 0 ? stored : amount).toString();
}
