// Conditions (language.md 2.5). They are read as expressions, whose grammar holds theirs, and then made into the narrower tree.
import type { Binary, Comparison, ComparisonOperator, Condition, Expression } from '../ast.ts';
import { type Cursor, quoted } from './cursor.ts';
import { logical } from './expressions.ts';

const COMPARISONS: ReadonlySet<string> = new Set<ComparisonOperator>([
  '==',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  'in',
  'regex',
  'geonear',
  'geointersects',
  'geowithin',
]);
/** What may stand alone: something that can give a where-object, or a path. */
const QUERY_OBJECTS: ReadonlySet<string> = new Set(['Object', 'Name', 'Member', 'Subscript', 'Call', 'MethodCall']);

export function condition(p: Cursor): Condition {
  const written = logical(p);
  if (p.at('=') && !p.isFresh()) p.fail("'=' assigns", 'for a comparison write ==');
  return toCondition(p, written);
}

/** `WHERE condition`, if it stands here. */
export function where(p: Cursor): Condition | null {
  if (!startsWhere(p)) return null;
  p.take();
  return condition(p);
}
export const startsWhere = (p: Cursor, ahead = 0): boolean =>
  p.at('where', ahead) && !p.isAssigning(ahead + 1) && !['.', '=>', '++', '--'].some((text) => p.at(text, ahead + 1));

function toCondition(p: Cursor, node: Expression): Condition {
  const { start, end } = node;
  if (node.type === 'Logical') {
    const operator = node.operator === '&&' ? 'and' : 'or';
    return { type: 'LogicalCondition', operator, terms: terms(p, node, node.operator), start, end };
  }
  if (node.type === 'Unary' && node.operator === '!') return { type: 'NotCondition', operand: toCondition(p, node.operand), start, end };
  if (node.type === 'Binary' && isComparison(node)) return comparison(p, node);
  if (!QUERY_OBJECTS.has(node.type) && !p.isStandIn(node))
    p.soft(node, 'a condition compares, or is a where-object', 'for all instances write WHERE {}; for a flag write flag == true');
  return { type: 'QueryObject', expression: node, start, end };
}

/** `a AND b AND c` is one list; what stood in parentheses of its own stays a term. */
function terms(p: Cursor, node: Expression, operator: '&&' | '||'): Condition[] {
  const list: Condition[] = [];
  let at = node;
  while (at.type === 'Logical' && at.operator === operator && (at === node || !p.parenthesised.has(at))) {
    list.push(toCondition(p, at.right));
    at = at.left;
  }
  list.push(toCondition(p, at));
  return list.reverse();
}

type ComparisonNode = Binary & { readonly operator: ComparisonOperator };
const isComparison = (node: Binary): node is ComparisonNode => COMPARISONS.has(node.operator);

function comparison(p: Cursor, node: ComparisonNode): Comparison {
  for (const side of [node.left, node.right]) {
    if (side.type !== 'Binary' || !isComparison(side) || p.parenthesised.has(side)) continue;
    const second = side === node.left ? node : side;
    p.soft(
      second.operatorSpan,
      `comparisons cannot be chained: ${quoted(second.operator)} needs parentheses`,
      'join two comparisons by AND',
    );
  }
  return { type: 'Comparison', operator: node.operator, left: node.left, right: node.right, start: node.start, end: node.end };
}
