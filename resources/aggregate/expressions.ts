// Expressions of a pipeline, rebuilt from an allow-list, so that no object of the caller reaches the store (resources-and-api.md 3.6).

import type { Document } from 'mongodb';
import { isObject, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { toBson } from '../../model/values/index.ts';
import { checkSize } from './expression-size.ts';
import { partOf } from './money-text.ts';
import { fieldAt, newName, type Shape, requireObject } from './shape.ts';

const words = (text: string): string[] =>
  text
    .trim()
    .split(/\s+/)
    .map((word) => `$${word}`);

/** Arithmetic operators: a Currency among their operands stands for its value. */
const ARITHMETIC = new Set(words('abs add ceil divide exp floor ln log log10 mod multiply pow round sqrt subtract sum avg trunc'));
const ALLOWED = new Set([
  ...ARITHMETIC,
  ...words('cmp eq gt gte lt lte ne and or not cond ifNull switch min max let literal mergeObjects'),
  ...words('concat dateFromString dateToString indexOfBytes indexOfCP ltrim regexFind regexFindAll regexMatch replaceOne replaceAll rtrim'),
  ...words('split strLenBytes strLenCP strcasecmp substr substrBytes substrCP toLower toUpper trim'),
  ...words('dateAdd dateDiff dateFromParts dateSubtract dateToParts dateTrunc dayOfMonth dayOfWeek dayOfYear hour isoDayOfWeek isoWeek'),
  ...words('isoWeekYear millisecond minute month second week year'),
  ...words(
    'arrayElemAt arrayToObject concatArrays filter first firstN in indexOfArray isArray last lastN map maxN minN objectToArray range',
  ),
  ...words('reduce reverseArray size slice sortArray zip setDifference setEquals setIntersection setIsSubset setUnion allElementsTrue'),
  ...words('anyElementTrue convert isNumber toBool toDate toDecimal toDouble toInt toLong toObjectId toString type'),
]);
/** Operators of the store that callers may not use; any other name with a dollar is unknown. */
const FORBIDDEN = new Set(
  words('function accumulator where rand expr meta getField setField unsetField sampleRate jsonSchema toHashedIndexKey'),
);
const VARIABLES = new Set(['ROOT', 'CURRENT', 'NOW', 'REMOVE']);
const MOST_NODES = 1_000;
const DEEPEST = 20;

/** Counts the nodes of a pipeline against its bound. */
export class Budget {
  #nodes = 0;
  node(depth: number): void {
    if (++this.#nodes > MOST_NODES) throw apiError('cascade.query.too.expensive', 'nodes');
    if (depth > DEEPEST) throw apiError('cascade.query.too.expensive', 'depth');
  }
}

interface Place {
  readonly shape: Shape;
  readonly budget: Budget;
  readonly depth: number;
  readonly operator: string;
  readonly calculates: boolean;
  /** Variables of the surrounding $let, $map, $filter and $reduce. */
  readonly variables: ReadonlySet<string>;
}

/**
 * @param operator the operator around the expression, for errors
 * @throws cascade.query.operator.forbidden, .unknown, cascade.query.operand.invalid, cascade.query.too.expensive
 */
export function expression(value: Value, shape: Shape, budget: Budget, operator: string): unknown {
  return rebuild(value, { shape, budget, depth: 1, operator, calculates: ARITHMETIC.has(operator), variables: new Set() });
}

function rebuild(value: Value, place: Place): unknown {
  place.budget.node(place.depth);
  if (typeof value === 'string') return value.startsWith('$') ? reference(value, place) : value;
  const inner = { ...place, depth: place.depth + 1 };
  if (Array.isArray(value)) return value.map((element) => rebuild(element, inner));
  if (!isObject(value)) return value === null ? null : toBson(value);
  const names = Object.keys(value);
  const operator = names.find((name) => name.startsWith('$'));
  if (operator === undefined) return members(value, inner);
  if (names.length > 1) throw apiError('cascade.query.operator.mixed', operator, '');
  return operation(operator, value[operator] as Value, inner);
}

function members(value: ObjectValue, place: Place): Document {
  const result: Document = {};
  for (const name of Object.keys(value)) result[newName(name, place.operator)] = rebuild(value[name] as Value, place);
  return result;
}

function operation(operator: string, operand: Value, place: Place): Document {
  if (!ALLOWED.has(operator)) throw refused(operator);
  if (operator === '$literal') return { $literal: literal(operand) };
  checkSize(operator, operand);
  if (operator === '$objectToArray') requireObject(operand, place.shape, operator);
  const variables = new Set([...place.variables, ...bound(operator, operand)]);
  const rebuilt = { [operator]: rebuild(operand, { ...place, operator, calculates: ARITHMETIC.has(operator), variables }) };
  if (operator === '$toObjectId') return { $toString: rebuilt };
  return operator === '$convert' && isObject(operand) && mayBeId(operand['to'] ?? null) ? idAsText(rebuilt) : rebuilt;
}

/** The type that a `$convert` is to, where it is a constant, is another one. */
const mayBeId = (to: Value): boolean =>
  typeof to === 'string' ? to === 'objectId' || to.startsWith('$') : isObject(to) || to === OBJECT_ID;
const OBJECT_ID = 7;

/** Ids are texts for clients throughout a pipeline, as `$_id` is: what is converted to one compares with those. */
const idAsText = (value: Document): Document => ({
  $let: { vars: { v: value }, in: { $cond: [{ $eq: [{ $type: '$$v' }, 'objectId'] }, { $toString: '$$v' }, '$$v'] } },
});

export const refused = (operator: string) =>
  apiError(FORBIDDEN.has(operator) ? 'cascade.query.operator.forbidden' : 'cascade.query.operator.unknown', operator, '');

/** The stored form of a constant. */
export const literal = (value: Value): unknown => (value === null ? null : Array.isArray(value) ? value.map(literal) : toBson(value));

/** Names that an operator binds for the expressions inside it. */
function bound(operator: string, operand: Value): string[] {
  if (!isObject(operand)) return [];
  if (operator === '$let') return isObject(operand['vars'] ?? null) ? Object.keys(operand['vars'] as ObjectValue) : [];
  if (operator === '$reduce') return ['this', 'value'];
  if (operator === '$map' || operator === '$filter') return [typeof operand['as'] === 'string' ? operand['as'] : 'this'];
  return [];
}

/** The reference `$path`, `$$variable` or `$$variable.path`. */
function reference(text: string, place: Place): unknown {
  const { shape, operator, calculates } = place;
  const [, variable, rest] = /^\$\$([^.]*)\.?(.*)$/s.exec(text) ?? [];
  if (variable !== undefined) {
    if (!VARIABLES.has(variable) && !place.variables.has(variable)) throw apiError('cascade.query.operand.invalid', text, operator);
    if (rest === '' || rest === undefined) return text;
    if (variable !== 'ROOT' && variable !== 'CURRENT')
      return `$$${variable}.${fieldAt({ ...shape, typed: new Set() }, rest, operator).path}`;
  }
  const { path, base, isWhole, isObjectId, money } = fieldAt(shape, variable === undefined ? text.slice(1) : (rest as string), operator);
  if (isObjectId) return { $toString: '$_id' };
  const part = money && (money.part ?? (calculates ? 'value' : null));
  if (money && part) return partOf(money, part);
  return calculates && base === 'Currency' && isWhole && !money ? `$${path}.v` : `$${path}`;
}
