// What the values of a pipeline are made of, as far as they are values of user scalars, which clients see in their external form
// (resources-and-api.md 3.6, 4.2): members of instances, elements and members of these, and what operators choose among them. A value that is
// calculated is of no scalar; a constant stands for a stored value, as it does in a comparison.

import { getOwn, isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { type Holder, holds } from '../scalars/index.ts';
import { type Shape, without } from './shape.ts';

/** Null: nothing is of a scalar. A constant is of the scalar of what it stands beside. */
export type Meaning = Holder | 'constant' | null;

type Variables = ReadonlyMap<string, Meaning>;

/** The meaning of an expression that has been checked. */
export function meaningOf(value: Value, shape: Shape, variables: Variables = new Map()): Meaning {
  if (shape.type.isPlain && shape.computed.size === 0) return null;
  return expression(value, { shape, variables });
}

/** The shape after a stage that gives these values to these names; a dotted name gives a member. */
export function giving(shape: Shape, given: Iterable<readonly [name: string, meaning: Meaning]>): Shape {
  const made = new Map<string, Meaning>();
  for (const [name, meaning] of given) {
    const [first = '', ...rest] = name.split('.');
    const before = made.has(first) ? made.get(first) : topOf(shape).get(first);
    made.set(first, rest.length === 0 ? meaning : withMember(before ?? null, rest, meaning));
  }
  const after = without(shape, made.keys());
  return { ...after, computed: new Map([...after.computed, ...onlyShown(made)]) };
}

const isHolder = (meaning: Meaning): meaning is Holder => meaning !== null && meaning !== 'constant';

/**
 * Those that are of a scalar, or have members that are. Of others no members are ever kept: so each that has some leads to a scalar at once,
 * and documents that are put into themselves, stage by stage, are not gone through twice as long each time.
 */
const onlyShown = (all: Iterable<readonly [string, Meaning]>): Map<string, Holder> =>
  new Map([...all].filter((one): one is [string, Holder] => isHolder(one[1]) && holds(one[1], 'toExternal')));

/** What is of no scalar, beside members that are: in another of several Objects the same member may be of one. */
const PLAIN: Holder = { kind: 'base', multi: false };

const isPlain = ({ scalar, structure }: Holder): boolean => scalar === undefined && structure === undefined;

/** An Object of these members; constants are left out, as they are of the scalar of what they stand beside. */
function objectWith(all: Iterable<readonly [string, Meaning]>): Holder {
  const kept = [...all].filter(([, meaning]) => meaning !== 'constant');
  return objectOf(new Map([...kept.map(([name]) => [name, PLAIN] as const), ...onlyShown(kept)]));
}

/** The documents of a shape as a whole. */
export const rootOf = (shape: Shape): Holder => objectOf(topOf(shape));

/** Its members, as far as it is known what they are made of. */
export const membersOf = (meaning: Meaning): (readonly [string, Holder])[] =>
  isHolder(meaning) ? [...(meaning.structure?.()?.properties ?? [])] : [];

export const objectOf = (properties: ReadonlyMap<string, Holder>): Holder => ({
  kind: 'type',
  multi: false,
  structure: () => ({ properties }),
});

const topOf = ({ type, typed, computed }: Shape): ReadonlyMap<string, Holder> =>
  new Map([...computed, ...onlyShown([...type.properties].filter(([name]) => typed.has(name)))]);

function withMember(before: Meaning, [step = '', ...rest]: readonly string[], meaning: Meaning): Holder {
  const members = new Map<string, Meaning>(membersOf(before));
  members.set(step, rest.length === 0 ? meaning : withMember(members.get(step) ?? null, rest, meaning));
  return objectWith(members);
}

// ---------------------------------------------------------------- expressions
interface Place {
  readonly shape: Shape;
  readonly variables: Variables;
}

function expression(value: Value, place: Place): Meaning {
  if (typeof value === 'string') return value.startsWith('$') ? reference(value, place) : 'constant';
  if (Array.isArray(value)) return either(value, place);
  if (!isObject(value)) return 'constant';
  const names = Object.keys(value);
  const [operator = ''] = names;
  if (!operator.startsWith('$')) return members(value, place);
  const passed = Object.hasOwn(PASSED, operator) ? PASSED[operator] : undefined;
  return passed ? passed(getOwn(value, operator), place) : null;
}

function reference(text: string, { shape, variables }: Place): Meaning {
  const [, variable, rest] = /^\$\$([^.]*)\.?(.*)$/s.exec(text) ?? [];
  if (variable === undefined) return memberAt(rootOf(shape), text.slice(1));
  const whole = variable === 'ROOT' || variable === 'CURRENT' ? rootOf(shape) : (variables.get(variable) ?? null);
  return rest === undefined || rest === '' ? whole : memberAt(whole, rest);
}

function memberAt(whole: Meaning, path: string): Meaning {
  let found: Meaning = whole;
  for (const step of path.split('.')) {
    if (!isHolder(found)) return null;
    found = found.structure?.()?.properties.get(step) ?? null;
  }
  return found;
}

function members(value: ObjectValue, place: Place): Meaning {
  const found = objectWith(Object.keys(value).map((name) => [name, expression(getOwn(value, name), place)] as const));
  return holds(found, 'toExternal') ? found : null;
}

/** What one of the values is. */
function either(values: readonly Value[], place: Place): Meaning {
  return values.map((value) => expression(value, place)).reduce(same, 'constant');
}

function same(a: Meaning, b: Meaning): Meaning {
  if (a === 'constant') return b;
  if (b === 'constant') return a;
  if (a === null || b === null) return null;
  if (isSame(a, b)) return a;
  if (a.scalar !== undefined || b.scalar !== undefined || isPlain(a) || isPlain(b)) return null;
  const members = new Map<string, Meaning>(membersOf(a));
  for (const [name, other] of membersOf(b)) {
    const own = members.get(name) ?? null;
    members.set(name, !isHolder(own) || isSame(own, other) ? other : null); // no deeper: documents may be in themselves
  }
  return objectWith(members);
}

const isSame = (a: Holder, b: Holder): boolean =>
  a === b || (a.scalar === b.scalar && (a.scalar !== undefined || a.structure?.() === b.structure?.()));

type Passed = (operand: Value, place: Place) => Meaning;

const oneOf: Passed = (operand, place) => (Array.isArray(operand) ? either(operand, place) : expression(operand, place));
const firstOf: Passed = (operand, place) => expression(Array.isArray(operand) ? (operand[0] ?? null) : operand, place);
const member = (operand: Value, name: string): Value => (isObject(operand) && Object.hasOwn(operand, name) ? getOwn(operand, name) : null);
const inputOf: Passed = (operand, place) => expression(member(operand, 'input'), place);
const binding = (place: Place, bound: readonly (readonly [string, Meaning])[]): Place => ({
  ...place,
  variables: new Map([...place.variables, ...bound]),
});

/** The operators whose value is among their operands, is an element of one, or is made of such. */
const PASSED: Readonly<Record<string, Passed>> = {
  $literal: () => 'constant',
  $first: oneOf,
  $last: oneOf,
  $max: oneOf,
  $min: oneOf,
  $ifNull: oneOf,
  $concatArrays: oneOf,
  $setUnion: oneOf,
  $setIntersection: oneOf,
  $setDifference: firstOf,
  $reverseArray: oneOf,
  $arrayElemAt: firstOf,
  $slice: firstOf,
  $firstN: inputOf,
  $lastN: inputOf,
  $maxN: inputOf,
  $minN: inputOf,
  $sortArray: inputOf,
  $filter: inputOf,
  $mergeObjects: oneOf,
  $cond: (operand, place) => either(Array.isArray(operand) ? operand.slice(1) : [member(operand, 'then'), member(operand, 'else')], place),
  $switch: (operand, place) => {
    const branches = member(operand, 'branches');
    const values = Array.isArray(branches) ? branches.map((branch) => member(branch, 'then')) : [];
    return either([...values, member(operand, 'default')], place);
  },
  $let: (operand, place) => {
    const vars = member(operand, 'vars');
    const bound = isObject(vars) ? Object.keys(vars).map((name) => [name, expression(getOwn(vars, name), place)] as const) : [];
    return expression(member(operand, 'in'), binding(place, bound));
  },
  $map: (operand, place) => {
    const as = member(operand, 'as');
    return expression(member(operand, 'in'), binding(place, [[typeof as === 'string' ? as : 'this', inputOf(operand, place)]]));
  },
  $reduce: (operand, place) => {
    const initial = expression(member(operand, 'initialValue'), place);
    const bound = binding(place, [
      ['this', inputOf(operand, place)],
      ['value', initial],
    ]);
    return same(initial, expression(member(operand, 'in'), bound));
  },
};
