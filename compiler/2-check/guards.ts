// What of a trigger's WHERE only a program can decide (a call of the user's own procedure): it becomes the condition under which the body
// runs, so that the trigger index decides the rest without the sandbox (language.md W4, 6.1).
import type { Condition, Expression, RuleDefinition, Span, Statement } from '../ast.ts';
import type { CallResolver } from './calls.ts';
import { dottedPath } from './calls.ts';
import { type Bound, ConditionWriter } from './condition-data.ts';

export interface Split {
  /** What the index decides; null: nothing. */
  readonly data: Condition | null;
  /** What the body begins with; null: nothing. */
  readonly guard: Expression | null;
}

/** Parts the terms of a top-level AND. */
export function splitCondition(node: Condition, bound: Bound, resolver: CallResolver): Split {
  const terms = node.type === 'LogicalCondition' && node.operator === 'and' ? node.terms : [node];
  const isData = (term: Condition): boolean => {
    const writer = new ConditionWriter(resolver, () => undefined);
    writer.condition(term, bound);
    return !writer.refused;
  };
  const data = terms.filter(isData);
  const guards = terms.filter((term) => !data.includes(term)).map((term) => toExpression(term, bound));
  if (guards.length === 0) return { data: node, guard: null };
  const [only] = data;
  return {
    data: data.length > 1 ? { ...node, type: 'LogicalCondition', operator: 'and', terms: data } : (only ?? null),
    guard: guards.reduce(and),
  };
}

/** Both of two guards. */
export const and = (left: Expression, right: Expression): Expression => logical('&&', left, right);

/** An event of an OR: where it happens, the whole of its condition, and what of that only a program decides. */
interface Branch {
  readonly bound: Bound[number];
  readonly paths: readonly string[];
  readonly where: Condition | null;
  readonly guard: Expression | null;
  readonly at: Span;
}

/**
 * What the body of an OR begins with: that the event is one of a branch, of which the index has decided its part only. The branches
 * are told apart by the path of the event.
 * @returns null where nothing is left to decide
 */
export function branchGuard(branches: readonly Branch[]): Expression | null {
  if (branches.every(({ guard }) => guard === null)) return null;
  return branches.map(oneBranch).reduce((left, right) => logical('||', left, right));
}

function oneBranch({ bound, paths, where, at }: Branch): Expression {
  const { start, end } = at;
  const event: Expression = { type: 'Name', name: bound.variable, start, end };
  const path: Expression = { type: 'Member', object: event, property: 'path', propertySpan: { start, end }, start, end };
  const here = paths
    .map((text): Expression => {
      const right: Expression = { type: 'String', value: text, start, end };
      return { type: 'Binary', operator: '==', operatorSpan: { start, end }, left: path, right, start, end };
    })
    .reduce((left, right) => logical('||', left, right));
  return where ? and(here, toExpression(where, [bound])) : here;
}

/** The body under its guard. */
export function guarded(definition: RuleDefinition, guard: Expression): RuleDefinition {
  const { start, end } = guard;
  const body: Statement = {
    type: 'If',
    condition: guard,
    then: { type: 'Block', body: definition.body, start, end },
    otherwise: null,
    start,
    end,
  };
  return { ...definition, body: [body] };
}

function toExpression(node: Condition, bound: Bound): Expression {
  const { start, end } = node;
  if (node.type === 'LogicalCondition')
    return node.terms
      .map((term) => toExpression(term, bound))
      .reduce((left, right) => logical(node.operator === 'and' ? '&&' : '||', left, right));
  if (node.type === 'NotCondition') return { type: 'Unary', operator: '!', operand: toExpression(node.operand, bound), start, end };
  if (node.type === 'QueryObject') return withVariable(node.expression, bound);
  const { operator, left, right } = node;
  return { type: 'Binary', operator, operatorSpan: { start, end }, left: withVariable(left, bound), right, start, end };
}

/** A bare property on the left means that of the only, classic event (language.md W2). */
function withVariable(node: Expression, bound: Bound): Expression {
  const [first, ...rest] = dottedPath(node) ?? [];
  const [only] = bound;
  if (first === undefined || !only || only.binds !== 'value' || bound.some(({ variable }) => variable === first)) return node;
  const { start, end } = node;
  const root: Expression = { type: 'Name', name: only.variable, start, end };
  return [first, ...rest].reduce<Expression>(
    (object, property) => ({ type: 'Member', object, property, propertySpan: { start, end }, start, end }),
    root,
  );
}

const logical = (operator: '&&' | '||', left: Expression, right: Expression): Expression => ({
  type: 'Logical',
  operator,
  left,
  right,
  start: left.start,
  end: right.end,
});
