// The operators of a condition (resources-and-api.md 3.2): for each, what it takes and the test that it becomes.
import { getOwn, isInteger, isObject, numberOf, type ObjectValue, type Value, XmlNode } from '../../stdlib/values/index.ts';
import { type GeoOperand, parseNearOperand, parseShapeOperand } from '../../stdlib/geo/index.ts';
import { storedUsername } from '../types/index.ts';
import { toConstant, toRangeConstant, toWholeObject } from './operands.ts';
import { Pattern } from './pattern.ts';
import type { ConditionPath, Constant, Kind, Test } from './types.ts';

/** What an operator needs of the parser: limits, refusals, and parsing of conditions inside conditions. */
export interface Place {
  readonly path: ConditionPath;
  /** The kind of one value: the path's, also for elements. */
  readonly kind: Kind;
  /** One element of an array is looked at, not the values at a path. */
  readonly element: boolean;
  /** @throws always: cascade.query.operand.invalid */
  invalid(): never;
  countElements(count: number): void;
  checkPatternLength(length: number): void;
  /** Counts what compiling patterns takes, in turns of a loop. */
  countPatternTurns(turns: number): void;
  tests(operators: Value): Test[];
  elementTest(operand: Value): Test;
  near(operand: GeoOperand): Test;
}

type Parse = (operand: Value, place: Place, siblings: Value) => Test;

const range =
  (op: 'gt' | 'gte' | 'lt' | 'lte'): Parse =>
  (operand, place) => {
    if (UNORDERED.has(place.kind)) place.invalid();
    const value = asStored(toRangeConstant(place.kind, operand), place.path);
    if (value === undefined || value === null || Array.isArray(value) || isObject(value)) return place.invalid();
    return { op, value };
  };
/** Kinds that are equal or not, and nothing else. */
const UNORDERED: ReadonlySet<Kind> = new Set<Kind>(['Object', 'GeoJSON', 'ResourceReference']);
/** Kinds that a regular expression may look at. */
const TEXTS: ReadonlySet<Kind> = new Set<Kind>(['String', 'Id', 'ResourceName', 'Json']);
/** A shape or reference, of which there is one: its only operators are those of equality and of shapes. */
const isWhole = ({ kind, path, element }: Place): boolean =>
  (kind === 'GeoJSON' || kind === 'ResourceReference') && (!path.multi || element);
const SHAPES: ReadonlySet<Kind> = new Set<Kind>(['GeoJSON', 'Json']);

const equality =
  (op: 'eq' | 'ne'): Parse =>
  (operand, place) => ({ op, value: constantAt(operand, place) });

const list =
  (op: 'in' | 'nin' | 'all'): Parse =>
  (given, place) => {
    const operand = given instanceof XmlNode ? given.elements : given; // each as its text
    if (!Array.isArray(operand) || (op === 'all' && isWhole(place))) return place.invalid();
    place.countElements(operand.length);
    return { op, values: operand.map((element) => constantAt(element, place)) };
  };

const shape =
  (op: 'geoIntersects' | 'geoWithin'): Parse =>
  (operand, place) => {
    const found = SHAPES.has(place.kind) ? parseShapeOperand(operand) : null;
    return found && (op === 'geoIntersects' || found.type === 'Polygon') ? { op, shape: found } : place.invalid();
  };

const near: Parse = (operand, place) => {
  const found = SHAPES.has(place.kind) ? parseNearOperand(operand) : null;
  return found ? place.near(found) : place.invalid();
};

const OPERATORS: Readonly<Record<string, Parse>> = {
  $eq: equality('eq'),
  $ne: equality('ne'),
  $gt: range('gt'),
  $gte: range('gte'),
  $lt: range('lt'),
  $lte: range('lte'),
  $in: list('in'),
  $nin: list('nin'),
  $all: list('all'),
  $elemMatch: (operand, place) => (isWhole(place) ? place.invalid() : place.elementTest(operand)),
  $size: (operand, place) => {
    const size = isInteger(operand) ? Number(operand) : numberOf(operand);
    return Number.isInteger(size) && size >= 0 && !isWhole(place) ? { op: 'size', size } : place.invalid();
  },
  $regex: (operand, place, siblings) => {
    if (typeof operand !== 'string' || !TEXTS.has(place.kind)) return place.invalid();
    place.checkPatternLength(operand.length);
    const options = isObject(siblings) && Object.hasOwn(siblings, '$options') ? getOwn(siblings, '$options') : '';
    const pattern = typeof options === 'string' ? Pattern.parse(operand, options, place.countPatternTurns) : null;
    return pattern ? { op: 'regex', pattern } : place.invalid();
  },
  $not: (operand, place) => {
    if (!isObject(operand) || Object.keys(operand).length === 0) return place.invalid();
    return { op: 'not', tests: place.tests(operand) };
  },
  $exists: (operand, place) => (typeof operand === 'boolean' ? { op: 'exists', exists: operand } : place.invalid()),
  $geoIntersects: shape('geoIntersects'),
  $geoWithin: shape('geoWithin'),
  $near: near,
  $nearSphere: near,
};

/** Names that stand beside an operator, or join conditions. */
const OTHER_NAMES = new Set(['$and', '$or', '$nor', '$options', '$geometry', '$maxDistance', '$minDistance']);

/** Known to the store, and kept from it. */
const FORBIDDEN =
  /^\$(?:where|expr|function|accumulator|jsonSchema|text|type|mod|comment|rand|natural|bits\w*|_internal\w*|sampleRate|always(?:True|False)|within|box|center|centerSphere|polygon|uniqueDocs|meta|slice|language|search|query|orderby|hint|explain|max|min|returnKey|showDiskLoc|maxTimeMS)$/;

export const operatorNamed = (name: string): Parse | undefined => (Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined);

export const isOperatorName = (name: string): boolean => Object.hasOwn(OPERATORS, name) || OTHER_NAMES.has(name);

/** An operator in a place where none of its kind belongs, or one that is refused everywhere. */
export const isForbidden = (name: string): boolean => FORBIDDEN.test(name) || isOperatorName(name);

/**
 * A constant for equality. Where values may be arrays (a multi-valued property, data without a type) an array stands for a whole one.
 */
export function constantAt(operand: Value, place: Place): Constant {
  const { kind, path } = place;
  if (Array.isArray(operand) && kind !== 'Json') {
    if (!path.multi || place.element) return place.invalid();
    place.countElements(operand.length);
    return operand.map((element) => oneConstant(element, place));
  }
  if (kind === 'Json') countNested(operand, place);
  return oneConstant(operand, place);
}

function oneConstant(operand: Value, { kind, path, invalid }: Place): Constant {
  const members = kind === 'Object' ? path.structure?.() : undefined;
  const object = members && operand instanceof XmlNode ? operand.data() : operand;
  const constant = members && isObject(object ?? null) ? toWholeObject(members, object as ObjectValue) : toConstant(kind, operand);
  return asStored(constant, path) ?? (operand === null ? null : invalid());
}

/** Usernames compare as they are stored (resources-and-api.md 1.3). */
function asStored(constant: Constant | undefined, { isUsername }: ConditionPath): Constant | undefined {
  if (!isUsername || constant === undefined) return constant;
  if (Array.isArray(constant)) return constant.map((element) => (typeof element === 'string' ? storedUsername(element) : element));
  return typeof constant === 'string' ? storedUsername(constant) : constant;
}

function countNested(operand: Value, place: Place): void {
  if (Array.isArray(operand)) {
    place.countElements(operand.length);
    for (const element of operand) countNested(element, place);
  } else if (isObject(operand)) for (const name of Object.keys(operand)) countNested(getOwn(operand, name), place);
}
