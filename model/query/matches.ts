// Whether an instance in memory satisfies a condition: written from resources-and-api.md 3.2 alone, so that it can be the measure of
// the filter that storage is given, and what triggers and constraints of profiles are decided with.
import { isObject, type ObjectValue, real, type Value } from '../../stdlib/values/index.ts';
import { equalsConstant, order } from './compare.ts';
import { distance, geoJsonOf, geometryOf, intersects, within } from '../../stdlib/geo/index.ts';
import { type DeferredCall, hostBounds, withinBudget } from './host-budget.ts';
import { type Leaves, leavesOf } from './leaves.ts';
import { areFew, type Keyed, keyedAgain, Lookup } from './lookup.ts';
import type { Condition, Constant, Kind, Predicate, RangeOperator, Test } from './types.ts';

export const matches = (predicate: Predicate, object: ObjectValue): boolean => holds(predicate.condition, object);

/** `root` is the instance, or the element that an `$elemMatch` looks at. */
function holds(condition: Condition, root: Value): boolean {
  switch (condition.op) {
    case 'and':
      return condition.terms.every((term) => holds(term, root));
    case 'or':
      return condition.terms.some((term) => holds(term, root));
    case 'nor':
      return !condition.terms.some((term) => holds(term, root));
    case 'property': {
      const { path, tests } = condition;
      const leaves = path.known ? leavesOf(root, path) : NOTHING;
      const nullsOnly = path.indexed;
      return tests.every((test) => passes(test, path.kind, leaves, nullsOnly ? 'position' : 'path'));
    }
  }
}

const NOTHING: Leaves = { values: [], positioned: [], missing: true };

/**
 * How values were reached. `path`: arrays stand for their elements too, and a way that ends early counts as null; `position`: a step was
 * a position in an array, so only nothing at all counts as null; `element`: one element of an array, taken as it is.
 */
export type Reach = 'path' | 'position' | 'element';

/** Whether the values at a path pass a test. */
export function passes(test: Test, kind: Kind, leaves: Leaves, reach: Reach): boolean {
  switch (test.op) {
    case 'eq':
      return isAny(test.value, kind, leaves, reach);
    case 'ne':
      return !isAny(test.value, kind, leaves, reach);
    case 'in':
      return among(test.values, kind, leaves, reach, 'some');
    case 'nin':
      return !among(test.values, kind, leaves, reach, 'some');
    case 'all':
      return test.values.length > 0 && among(test.values, kind, leaves, reach, 'every');
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return some(leaves, reach, (value) => inRange(test.op, order(kind, value, test.value)));
    case 'regex':
      return some(leaves, reach, (value) => typeof value === 'string' && test.pattern.search(value));
    case 'size':
      return someWhole(leaves, (value) => Array.isArray(value) && value.length === test.size);
    case 'exists':
      return isThere(leaves) === test.exists;
    case 'not':
      return !test.tests.every((inner) => passes(inner, kind, leaves, reach));
    case 'element':
      return someElement(leaves, (element) => {
        const alone: Leaves = { values: [element], positioned: [], missing: false };
        return test.tests.every((inner) => passes(inner, kind, alone, 'element'));
      });
    case 'elementWhere':
      return someElement(leaves, (element) => (isObject(element) || Array.isArray(element)) && holds(test.where, element));
    case 'geoIntersects':
    case 'geoWithin':
    case 'near':
      return some(leaves, reach, (value) => passesGeo(test, value));
  }
}

/** Within the bounds of conditions: outlines may have thousands of edges. @throws {BudgetExceeded} */
function passesGeo(test: GeoTest, value: Value): boolean {
  const shape = geometryOf(value);
  if (shape === null) return false;
  const { spend } = hostBounds;
  const call: DeferredCall = {
    builtin: null,
    operator: GEO_OPERATORS[test.op],
    get args() {
      return [value, geoOperand(test)]; // seldom looked at
    },
  };
  return withinBudget(call, () => {
    if (test.op !== 'near') return test.op === 'geoWithin' ? within(shape, test.shape, spend) : intersects(shape, test.shape, spend);
    const metres = distance(test.point, shape, spend);
    return metres >= test.minDistance && metres <= test.maxDistance;
  });
}

type GeoTest = Extract<Test, { op: 'near' | 'geoIntersects' | 'geoWithin' }>;
const GEO_OPERATORS = { near: 'geonear', geoIntersects: 'geointersects', geoWithin: 'geowithin' } as const;

/** The operand as the language writes it, for who asks elsewhere. */
function geoOperand(test: GeoTest): ObjectValue {
  if (test.op !== 'near') return { geometry: geoJsonOf(test.shape) };
  const { point, minDistance, maxDistance } = test;
  return {
    geometry: geoJsonOf(point),
    minDistance: real(minDistance),
    ...(Number.isFinite(maxDistance) && { maxDistance: real(maxDistance) }),
  };
}

/** `passes` for a path with one value that is neither null nor an array: the common case, without the lists. */
export function passesValue(test: Test, kind: Kind, value: Value): boolean {
  switch (test.op) {
    case 'eq':
      return equalsConstant(kind, value, test.value);
    case 'ne':
      return !equalsConstant(kind, value, test.value);
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return inRange(test.op, order(kind, value, test.value));
    default:
      return passes(test, kind, { values: [value], positioned: [], missing: false }, 'path');
  }
}

/** Equality with any value; null is also what is not there. */
function isAny(constant: Constant, kind: Kind, leaves: Leaves, reach: Reach): boolean {
  if (constant === null) {
    if (!isThere(leaves) || (leaves.missing && reach === 'path')) return true;
    return some(leaves, reach, (value) => value === null);
  }
  return some(leaves, reach, (value) => equalsConstant(kind, value, constant));
}

/** Whether some constant, or every one (of `$all`), is among the values. */
function among(constants: readonly Constant[], kind: Kind, leaves: Leaves, reach: Reach, how: 'some' | 'every'): boolean {
  const isOne = how === 'some' ? isAny : isElement;
  const keyOf = KEYS[kind];
  if (areFew(countOf(leaves, reach), constants.length)) {
    const keyed = how === 'some' && keyOf ? keyedAgain(constants, keyOf) : null;
    if (keyed) return isAmongKeyed(keyed, constants, kind, leaves, reach);
    return constants[how]((constant) => isOne(constant, kind, leaves, reach));
  }
  const found: Value[] = [];
  some(leaves, reach, (value) => {
    found.push(value);
    return false;
  });
  const isNull = constants.includes(null) && isOne(null, kind, leaves, reach);
  const equality = {
    keyOf: keyOf ?? noKey,
    isEqual: (value: Value, constant: Value) => equalsConstant(kind, value, constant),
  };
  return Lookup.within(found, equality, (lookup) => constants[how]((constant) => (constant === null ? isNull : lookup.has(constant))));
}

function isAmongKeyed(keyed: Keyed<string | number>, constants: readonly Constant[], kind: Kind, leaves: Leaves, reach: Reach): boolean {
  let others = keyed.others;
  const hasKey = some(leaves, reach, (value) => {
    const key = keyed.keyOf(value);
    if (key === undefined && value !== null && !Array.isArray(value)) others = constants; // a number of another form may equal a plain one
    return key !== undefined && keyed.keys.has(key);
  });
  return hasKey || others.some((constant) => isAny(constant, kind, leaves, reach));
}

const textKey = (value: Value): string | undefined => (typeof value === 'string' ? value : undefined);
const numberKey = (value: Value): number | undefined => (typeof value === 'number' ? value : undefined);
const noKey = (): undefined => undefined;

/** Keys of values that `===` tells apart; numbers of other forms may equal a plain one. */
const KEYS: { readonly [kind in Kind]?: (value: Value) => string | number | undefined } = {
  String: textKey,
  Id: textKey,
  Integer: numberKey,
  Real: numberKey,
};

/** For `$all`, to which null and missing never are equal; a null that is an element is. */
function isElement(constant: Constant, kind: Kind, leaves: Leaves, reach: Reach): boolean {
  if (constant !== null) return isAny(constant, kind, leaves, reach);
  return reach !== 'element' && leaves.values.some((value) => Array.isArray(value) && value.includes(null));
}

export function inRange(op: RangeOperator, comparison: number | undefined): boolean {
  if (comparison === undefined) return false;
  return op === 'gt' ? comparison > 0 : op === 'gte' ? comparison >= 0 : op === 'lt' ? comparison < 0 : comparison <= 0;
}

/** Some value, or some element of one that is an array. */
function some(leaves: Leaves, reach: Reach, test: (value: Value) => boolean): boolean {
  for (const value of leaves.values) {
    if (test(value)) return true;
    if (reach !== 'element' && Array.isArray(value) && value.some(test)) return true;
  }
  return leaves.positioned.some(test);
}

/** How many values `some` goes through. */
function countOf({ values, positioned }: Leaves, reach: Reach): number {
  let count = values.length + positioned.length;
  if (reach !== 'element') for (const value of values) if (Array.isArray(value)) count += value.length;
  return count;
}

const isThere = ({ values, positioned }: Leaves): boolean => values.length > 0 || positioned.length > 0;

/** Some value, an array as one. */
const someWhole = ({ values, positioned }: Leaves, test: (value: Value) => boolean): boolean => values.some(test) || positioned.some(test);

function someElement(leaves: Leaves, test: (element: Value) => boolean): boolean {
  return someWhole(leaves, (value) => Array.isArray(value) && value.some(test));
}
