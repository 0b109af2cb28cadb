// Conditions whose outcome the text alone decides (language.md 4.4): of IF, WHILE, `? :`, and the operands of `&&`, `||` and `!`.
import type { Expression, Statement, While } from '../ast.ts';
import { fold } from '../2-check/constants.ts';
import type { Report } from '../2-check/report.ts';
import { type AnyNode, childrenOf } from '../2-check/walk.ts';

/** The endless loop as it is written on purpose; what stands behind it is another matter. */
export const isEndless = ({ condition }: While): boolean => condition.type === 'Boolean' && condition.value;

export function adviseConditions(body: readonly Statement[], report: Report): void {
  const visit = (node: AnyNode): void => {
    for (const condition of conditionsOf(node)) {
      const outcome = outcomeOf(condition);
      if (outcome === undefined) continue;
      report(condition, 'cascade.check.condition.constant', `this condition is always ${outcome}`, hintFor(condition));
    }
    for (const child of childrenOf(node)) visit(child);
  };
  for (const statement of body) visit(statement);
}

/** The conditions that a node tests; each is told of once, where it is tested first. */
function conditionsOf(node: AnyNode): readonly Expression[] {
  if (node.type === 'If' || node.type === 'Ternary' || (node.type === 'While' && !isEndless(node as unknown as While)))
    return [(node as unknown as { condition: Expression }).condition];
  return [];
}

function hintFor(node: Expression): string | undefined {
  return isSelfComparison(node) ? 'both sides are the same' : undefined;
}

/** @returns the truth value of an expression that has the same one in every run, else undefined */
export function outcomeOf(node: Expression): boolean | undefined {
  if (node.type === 'Unary' && node.operator === '!') {
    const operand = outcomeOf(node.operand);
    return operand === undefined ? undefined : !operand;
  }
  if (node.type === 'Logical') {
    const [left, right] = [outcomeOf(node.left), outcomeOf(node.right)];
    const decisive = node.operator === '||';
    if (left === decisive || right === decisive) return decisive;
    return left === undefined || right === undefined ? undefined : !decisive;
  }
  if (node.type === 'Lambda') return true;
  if (node.type === 'Binary') return isSelfComparison(node) ? node.operator === '==' : compared(node);
  const value = fold(node);
  return value === undefined ? undefined : isTrue(value);
}

/** `x == x`, `x != x`. Ordering is left out: with null on both sides `<=` is false, and which value it is the text doesn't say. */
function isSelfComparison(node: Expression): boolean {
  if (node.type !== 'Binary' || (node.operator !== '==' && node.operator !== '!=')) return false;
  const left = pathText(node.left);
  return left !== null && left === pathText(node.right);
}

/** A name and its steps as text; null for anything that may differ from one evaluation to the next. */
function pathText(node: Expression): string | null {
  if (node.type === 'Name') return node.name;
  if (node.type !== 'Member') return null;
  const before = pathText(node.object);
  return before === null ? null : `${before}.${node.property}`;
}

const ORDER: Readonly<Record<string, (a: bigint, b: bigint) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};
/** Two Integers, or two Strings that are the same or not; everything else depends on conversions. */
function compared(node: Extract<Expression, { type: 'Binary' }>): boolean | undefined {
  const compare = ORDER[node.operator];
  if (!compare) return undefined;
  const [left, right] = [fold(node.left), fold(node.right)];
  if (typeof left === 'bigint' && typeof right === 'bigint') return compare(left, right);
  if (typeof left !== 'string' || typeof right !== 'string') return undefined;
  return node.operator === '==' || node.operator === '!=' ? (left === right) === (node.operator === '==') : undefined;
}

function isTrue(value: NonNullable<ReturnType<typeof fold>> | null): boolean {
  if (value === null || typeof value === 'boolean') return value === true;
  if (typeof value === 'string' || Array.isArray(value)) return value.length > 0;
  if (typeof value === 'bigint') return value !== 0n;
  return 'real' in value ? value.real !== 0 : value.object.length > 0;
}
