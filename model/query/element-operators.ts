// `$elemMatch` with operators, for elements that are one BSON value each: every test is one operator of the store's.
import type { Document } from 'mongodb';
import type { Value } from '../../stdlib/values/index.ts';
import { toBson } from '../values/index.ts';
import { apiError } from '../errors/index.ts';
import { equalsConstant } from './compare.ts';
import { isMoneyText, moneyOperands, moneyPatterns } from './money-text.ts';
import { orderings } from './same-data.ts';
import type { ConditionPath, Constant, Test } from './types.ts';

/** Tests on one element; each operator occurs once, as it did in the condition. */
export function elementOperators(tests: readonly Test[], path: ConditionPath): Document {
  const operators: Document = {};
  for (const test of isMoneyText(path) ? tests : withoutDecidedLists(tests, path)) {
    const added = (isMoneyText(path) && moneyOperator(test, path)) || operatorOf(test, path);
    for (const [name, operand] of Object.entries(added)) {
      const before: unknown = operators[name];
      operators[name] = before === undefined ? operand : joined(name, before, operand);
    }
  }
  return operators;
}

/** Equality decides every list of values beside it, and may become a list itself, of which the store takes one. */
function withoutDecidedLists(tests: readonly Test[], { kind }: ConditionPath): readonly Test[] {
  const eq = tests.find((test) => test.op === 'eq');
  if (!eq) return tests;
  const isIn = (values: readonly Constant[]): boolean => values.some((value) => equalsConstant(kind, eq.value, value));
  if (tests.some((test) => test.op === 'in' && !isIn(test.values))) return [{ op: 'in', values: [] }];
  return tests.filter((test) => test.op !== 'in');
}

/** Both operands of an operator that two tests became: of the store's each occurs once. An empty list, which nothing matches, stays. */
function joined(name: string, one: unknown, other: unknown): unknown {
  if (name === '$nin') return [...(one as unknown[]), ...(other as unknown[])];
  if (name === '$regex') return `(?=${one as string})(?=${other as string})`;
  return (one as unknown[]).length === 0 ? one : other;
}

/** A test of a text that stands for a Currency; null where it is that of any other value. */
function moneyOperator(test: Test, path: ConditionPath): Document | null {
  switch (test.op) {
    case 'ne':
      return { $nin: moneyOperands({ op: 'eq', value: test.value }, path) };
    case 'nin':
      return { $nin: moneyOperands({ op: 'in', values: test.values }, path) };
    case 'in':
      return { $in: moneyOperands(test, path) };
    case 'all':
      return onePattern(test.values.map((value) => moneyPatterns({ op: 'eq', value }, path)));
    case 'size':
    case 'exists':
    case 'not':
    case 'element':
      return null;
    default:
      return onePattern([moneyPatterns(test, path)]);
  }
}

/** One of each list must match; nothing does where there is no list, or an empty one. */
function onePattern(lists: readonly (readonly string[])[]): Document {
  if (lists.length === 0 || lists.some((patterns) => patterns.length === 0)) return { $in: [] };
  return { $regex: lists.map((patterns) => `(?=${patterns.join('|')})`).join('') };
}

function operatorOf(test: Test, path: ConditionPath): Document {
  switch (test.op) {
    case 'eq':
      return inOrders('$eq', '$in', test.value, path);
    case 'ne':
      return inOrders('$ne', '$nin', test.value, path);
    case 'in':
    case 'nin':
      return { [`$${test.op}`]: test.values.flatMap((value) => forms(value, path)) };
    case 'all':
      if (test.values.length === 0 || test.values.includes(null)) return { $all: [] };
      return { $all: test.values.map((value) => single(value, path)) };
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return { [`$${test.op}`]: toBson(test.value) };
    case 'regex':
      return { $regex: test.pattern.pcre };
    case 'size':
      return test.size > 0x7fffffff ? { $all: [] } : { $size: test.size };
    case 'exists':
      return { $exists: test.exists };
    case 'not':
      return { $not: elementOperators(test.tests, path) };
    case 'element':
      return { $elemMatch: elementOperators(test.tests, path) };
    default:
      throw apiError('cascade.query.operand.invalid', '', '$elemMatch'); // shapes, and conditions on elements of elements
  }
}

/** Equality with data has one form for each order that its members may have. */
function inOrders(one: string, many: string, value: Constant, path: ConditionPath): Document {
  const all = forms(value, path);
  return all.length === 1 ? { [one]: all[0] } : { [many]: all };
}

function forms(value: Constant, { kind }: ConditionPath): unknown[] {
  if (kind === 'ResourceName') return bothNames(value);
  return kind === 'ResourceReference' ? referenceForms(value) : orderings(value).map(toBson);
}

/** `system.sources` and `sources` are one resource. */
export const bothNames = (resource: Constant): unknown[] => [resource, `system.${resource as string}`];

/** A reference as it may stand in an Object: a former version has kept the order of its members, which was the writer's. */
export const referenceForms = (value: Constant): unknown[] =>
  value === null
    ? [null]
    : inEitherOrder(value).flatMap(({ resource, resourceId }) => [
        { resource, resourceId },
        { resourceId, resource },
      ]);

/** For a schema of the store, which does not mind the order of members. */
export function inEitherOrder(value: Value): { resource: unknown; resourceId: string }[] {
  const { resource, resourceId } = value as unknown as { resource: string; resourceId: string };
  return bothNames(resource).map((name) => ({ resource: name, resourceId }));
}

function single(value: Constant, path: ConditionPath): unknown {
  const all = forms(value, path);
  if (all.length > 1) throw apiError('cascade.query.too.expensive', 'orderings');
  return all[0];
}
