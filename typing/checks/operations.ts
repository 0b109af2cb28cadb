// Operators whose operands are known to be of kinds that they refuse (language.md 4.6, 4.7).
import type { Binary, Expression, Unary } from '../../compiler/ast.ts';
import { type Known, named, neverCompares, neverComputes, neverHolds, neverSigned } from '../kinds.ts';
import type { CheckContext } from './context.ts';

const COMPARING: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);
const COMPUTING: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%', '**']);

export function checkBinary(context: CheckContext, node: Binary): void {
  if (node.operator === 'in') checkMembership(context, node.right);
  const [left, right] = [context.knownOf(node.left), context.knownOf(node.right)];
  if (!left?.[0] || !right?.[0]) return;
  const each = (refuses: typeof neverCompares): boolean => left.every((a) => right.every((b) => refuses(node.operator, a, b)));
  const [a, b] = [list(left), list(right)];
  if (COMPARING.has(node.operator) && each(neverCompares))
    context.report(
      node.operatorSpan,
      'class.cast',
      `'${node.operator}' with ${a} on the left and ${b} on the right fails`,
      hintFor(left, right),
    );
  if (COMPUTING.has(node.operator) && each(neverComputes))
    context.report(node.operatorSpan, 'operand', `there is no '${node.operator}' for ${a} and ${b}`);
}

/** What stands behind `in`. */
export function checkMembership(context: CheckContext, node: Expression): void {
  const known = context.knownOf(node);
  if (known?.[0] && known.every(neverHolds))
    context.report(node, 'class.cast', `'in' looks into an array, and this is ${list(known)}`, 'write [a, b], or an array');
}

/** `-x` of what has no sign. */
export function checkUnary(context: CheckContext, node: Unary): void {
  const known = node.operator === '!' ? null : context.knownOf(node.operand);
  if (known?.[0] && known.every(neverSigned)) context.report(node.operand, 'operand', `there is no '${node.operator}' for ${list(known)}`);
}

const list = (kinds: NonNullable<Known>): string => kinds.map(named).join(' or ');

/** The catalogue's own hint speaks of a Decimal or Currency on the right. */
function hintFor(left: NonNullable<Known>, right: NonNullable<Known>): string | undefined {
  if (left.every(({ name }) => name === 'DateTime'))
    return 'a DateTime compares with a DateTime, an ISO String or an Integer of milliseconds';
  return right.every(({ name }) => name === 'Decimal' || name === 'Currency')
    ? undefined
    : 'convert one of them, so that both are of one type';
}
