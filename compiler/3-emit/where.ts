// Conditions of queries become REST where-objects, built when the statement runs (language.md 2.5, W11): the left sides are property
// paths and so constants, the right sides ordinary expressions.
import type * as es from 'estree';
import type { Comparison, ComparisonOperator, Condition, Expression, QueryObject } from '../ast.ts';
import { dottedPath } from '../2-check/calls.ts';
import * as b from './build.ts';
import { emitMaterialized } from './calls.ts';
import type { ModuleWriter } from './context.ts';
import type { PathOf } from './row-paths.ts';

const OPERATOR: Record<ComparisonOperator, string> = {
  '==': '$eq',
  '!=': '$ne',
  '<': '$lt',
  '<=': '$lte',
  '>': '$gt',
  '>=': '$gte',
  in: '$in',
  regex: '$regex',
  geonear: '$near',
  geointersects: '$geoIntersects',
  geowithin: '$geoWithin',
};

export function emitWhere(node: Condition | null, pathOf: PathOf, module: ModuleWriter): es.Expression {
  if (node === null) return b.object([]);
  if (node.type === 'LogicalCondition') {
    const terms = node.terms.map((term) => emitWhere(term, pathOf, module));
    return b.object([[node.operator === 'and' ? '$and' : '$or', b.array(terms)]]);
  }
  if (node.type === 'NotCondition') return b.object([['$nor', b.array([emitWhere(node.operand, pathOf, module)])]]);
  return node.type === 'Comparison' ? emitComparison(node, pathOf, module) : emitQueryObject(node, pathOf, module);
}

function emitComparison(node: Comparison, pathOf: PathOf, module: ModuleWriter): es.Expression {
  const path = pathOf(dottedPath(node.left) ?? []);
  return b.object([[path, b.object([[OPERATOR[node.operator], emitOperand(node.operator, node.right, module)]])]]);
}

function emitOperand(operator: ComparisonOperator, node: Expression, module: ModuleWriter): es.Expression {
  if (operator === 'in') return emitMaterialized(node, module);
  const value = module.value(node);
  if (operator === 'regex') return node.type === 'String' ? value : module.helper('pattern', node, value);
  return operator.startsWith('geo') ? module.helper('geoOperand', node, value) : value;
}

function emitQueryObject(node: QueryObject, pathOf: PathOf, module: ModuleWriter): es.Expression {
  const { expression } = node;
  if (module.model.barePaths.has(expression))
    return b.object([[pathOf(dottedPath(expression) ?? []), b.object([['$eq', b.literal(true)]])]]);
  const value = module.value(expression);
  return expression.type === 'Object' ? value : module.helper('query', node, value);
}
