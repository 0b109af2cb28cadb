// Bounds of the work and result of one expression of a pipeline: the store bounds the memory of a stage, but not that of an expression, and
// does not check the time limit within an expression.
import { isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';

/** Bound of the numbers of a $range. */
const MOST_RANGE = 100_000;
/** Bound of the iterations of nested loops, as far as constants determine them. */
const MOST_TURNS = 1_000_000;
/** Bound of the iterations of a $reduce whose value grows with each. */
const MOST_GROWING_TURNS = 10_000;

const LOOPS = new Set(['$map', '$filter', '$reduce']);
/** Operators that copy their operands into a longer value. */
const GROWING = new Set(['$concatArrays', '$setUnion', '$concat', '$zip', '$mergeObjects', '$replaceAll']);

/** Checks a $range, or a loop with everything inside it. @throws cascade.query.too.expensive with `range`, `iterations` or `growth` */
export function checkSize(operator: string, operand: Value): void {
  if (operator === '$range') rangeOf(operand);
  if (!LOOPS.has(operator)) return;
  if (turnsOf({ [operator]: operand }) > MOST_TURNS) throw apiError('cascade.query.too.expensive', 'iterations');
  if (operator !== '$reduce' || !isObject(operand)) return;
  const growth = growthOfBody(operand['in'] ?? null);
  if (growth > 1 || (growth === 1 && inputTurns(operand['input'] ?? null) > MOST_GROWING_TURNS))
    throw apiError('cascade.query.too.expensive', 'growth');
}

/** @returns the number of elements; where only the store knows the end, the largest number that an array of an instance has */
function rangeOf(operand: Value): number {
  if (!Array.isArray(operand)) return 1; // the store refuses it
  const [start = null, end = null, step = 1] = operand;
  const isLength = isObject(end) && Object.keys(end).join() === '$size';
  const count = isLength ? MOST_GROWING_TURNS : Math.max(0, Math.ceil((constant(end) - constant(start)) / constant(step)));
  if (!(count <= MOST_RANGE)) throw apiError('cascade.query.too.expensive', 'range');
  return count;
}

/** The value of a constant number; NaN for anything else. */
const constant = (value: Value): number =>
  value === null || typeof value === 'string' || Array.isArray(value) || isObject(value) ? Number.NaN : Number(value);

/** Iterations of the loops in a part; loops side by side add up, a loop in another's body multiplies. */
function turnsOf(part: Value): number {
  if (Array.isArray(part)) return part.reduce<number>((sum, element) => sum + turnsOf(element), 0);
  if (!isObject(part)) return 0;
  let sum = 0;
  for (const [name, value] of Object.entries<Value>(part)) {
    if (name === '$literal') continue;
    if (!LOOPS.has(name) || !isObject(value)) {
      sum += turnsOf(value);
      continue;
    }
    const body = turnsOf(value['in'] ?? null) + turnsOf(value['cond'] ?? null);
    sum += turnsOf(value['input'] ?? null) + inputTurns(value['input'] ?? null) * Math.max(1, body);
  }
  return sum;
}

/** The number of elements of a loop's input, as far as the expression determines it; an array of the instance counts as ten. */
function inputTurns(input: Value): number {
  if (Array.isArray(input)) return input.length;
  if (!isObject(input)) return 10;
  if ('$range' in input) return rangeOf(input['$range']);
  const [inner = null] = Object.values<Value>(input);
  const operands = Array.isArray(inner) ? inner : [isObject(inner) && 'input' in inner ? inner['input'] : inner];
  return Math.max(10, ...operands.map((operand) => (isObject(operand) || Array.isArray(operand) ? inputTurns(operand) : 10)));
}

/** The growth of a $reduce's body. Members of an Object grow separately, as long as none contains the whole. */
function growthOfBody(body: Value): number {
  const isParts = isObject(body) && !Object.keys(body).some((name) => name.startsWith('$')) && !takesWhole(body);
  return isParts ? Math.max(0, ...Object.values<Value>(body).map((member) => growthOf(member, true))) : growthOf(body, false);
}

const takesWhole = (part: Value): boolean =>
  part === '$$value' || (Array.isArray(part) ? part.some(takesWhole) : isObject(part) && Object.values<Value>(part).some(takesWhole));

/**
 * How often an operator that lengthens its value contains the value of the surrounding $reduce; two occurrences double it in each
 * iteration.
 */
function growthOf(part: Value, isGrowing: boolean): number {
  if (typeof part === 'string') return isGrowing && (part === '$$value' || part.startsWith('$$value.')) ? 1 : 0;
  if (Array.isArray(part)) return total(part, isGrowing);
  if (!isObject(part)) return 0;
  let most = 0;
  for (const [name, value] of Object.entries<Value>(part)) {
    if (name === '$literal') continue;
    // Only one of the branches becomes the value.
    if (name === '$cond' || name === '$switch') most = Math.max(most, ...branches(value).map((branch) => growthOf(branch, isGrowing)));
    else if (BINDING.has(name) && isObject(value)) most += growthOfBinding(name, value);
    else if (GROWING.has(name) || !name.startsWith('$')) most += growthOf(value, true);
    else if (!isGrowing || COPYING.has(name)) most += growthOf(value, isGrowing);
  }
  return most;
}

/** Operators that bind a value to a name, which may be used more than once, or that use it in each of their own iterations. */
const BINDING = new Set(['$let', '$map', '$reduce']);

function growthOfBinding(name: string, operand: ObjectValue): number {
  const { input = null, initialValue = null, vars = null, in: body = null } = operand as Record<string, Value>;
  // The body of an inner $reduce has a value of its own and is checked separately.
  if (name === '$reduce') return growthOf(input, true) + growthOf(initialValue, true);
  const [once, often] = name === '$let' ? [body, vars] : [input, body];
  return growthOf(once, true) + (growthOf(often, true) > 0 ? 2 : 0);
}

/** Operators whose result is their operand or a part of it; the result of all others is a number or a Boolean. */
const COPYING = new Set([
  '$ifNull',
  '$slice',
  '$reverseArray',
  '$sortArray',
  '$filter',
  '$setDifference',
  '$setIntersection',
  '$arrayToObject',
]);

const total = (parts: readonly Value[], isGrowing: boolean): number =>
  parts.reduce<number>((sum, one) => sum + growthOf(one, isGrowing), 0);

function branches(operand: Value): Value[] {
  if (Array.isArray(operand)) return operand.slice(1);
  if (!isObject(operand)) return [];
  const cases = Array.isArray(operand['branches']) ? operand['branches'] : [];
  return [
    operand['then'] ?? null,
    operand['else'] ?? null,
    operand['default'] ?? null,
    ...cases.map((one) => (isObject(one) ? (one['then'] ?? null) : null)),
  ];
}
