// `$elemMatch` with operators, for elements that are one BSON value each: every test is one operator of the store's.
import type { Document } from 'mongodb';
import { toBson } from '../values/index.ts';
import { apiError } from '../errors/index.ts';
import { orderings } from './same-data.ts';
import type { Constant, Kind, Test } from './types.ts';

/** Tests on one element; each operator occurs once, as it did in the condition. */
export function elementOperators(tests: readonly Test[], kind: Kind): Document {
  const operators: Document = {};
  for (const test of tests) Object.assign(operators, operatorOf(test, kind));
  return operators;
}

function operatorOf(test: Test, kind: Kind): Document {
  switch (test.op) {
    case 'eq':
      return inOrders('$eq', '$in', test.value, kind);
    case 'ne':
      return inOrders('$ne', '$nin', test.value, kind);
    case 'in':
    case 'nin':
      return { [`$${test.op}`]: test.values.flatMap((value) => forms(value, kind)) };
    case 'all':
      if (test.values.length === 0 || test.values.includes(null)) return { $all: [] };
      return { $all: test.values.map((value) => single(value, kind)) };
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
      return { $not: elementOperators(test.tests, kind) };
    case 'element':
      return { $elemMatch: elementOperators(test.tests, kind) };
    default:
      throw apiError('cascade.query.operand.invalid', '', '$elemMatch'); // shapes, and conditions on elements of elements
  }
}

/** Equality with data has one form for each order that its members may have. */
function inOrders(one: string, many: string, value: Constant, kind: Kind): Document {
  const all = forms(value, kind);
  return all.length === 1 ? { [one]: all[0] } : { [many]: all };
}

function forms(value: Constant, kind: Kind): unknown[] {
  return kind === 'ResourceName' ? [value, `system.${value as string}`] : orderings(value).map(toBson);
}

function single(value: Constant, kind: Kind): unknown {
  const all = forms(value, kind);
  if (all.length > 1) throw apiError('cascade.query.too.expensive', 'orderings');
  return all[0];
}
