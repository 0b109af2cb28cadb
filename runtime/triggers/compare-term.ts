// Decides a term: one function for the index's residual tests, for the naive filter of the tests, and for `explain`.
import type { CompareOperator } from '../../compiler/types.ts';
import { eq, ge, gt, inArray, le, lt, ne } from '../../stdlib/operators/index.ts';
import type { ObjectValue, Value } from '../../stdlib/values/index.ts';
import { dataScope, type Leaves, leavesThrough, matches, parseTest, passes, passesValue, plainValue } from '../../model/query/index.ts';
import { CascadeError } from '../../model/errors/index.ts';
import { compareData } from './compare-data.ts';
import { searchAtHost } from './search.ts';
import { type Node, OPERATORS, operandTest, type PathTerm, type Term } from './terms.ts';
import type { EvaluationContext } from './types.ts';

/** @throws errors of the condition's own expressions and operands; the caller counts them as false */
export function compareTerm(term: Term, context: EvaluationContext): boolean {
  switch (term.op) {
    case 'path':
      return comparePath(term, context);
    case 'expression':
      return compareValues(term.operator, term.left(context), term.right(context));
    case 'where': {
      const value = term.evaluate(context);
      if (term.isAsked && typeof value === 'boolean') return value;
      const predicate = term.predicate(value);
      const root = term.binds === 'value' ? context.payload(term.variable) : context.event(term.variable);
      return matches(predicate, root as ObjectValue);
    }
  }
}

/** Whether the whole condition holds, evaluated from left to right, no further than needed. */
export function holds(node: Node, context: EvaluationContext): boolean {
  switch (node.op) {
    case 'and':
      for (const term of node.terms) if (!holds(term, context)) return false;
      return true;
    case 'or':
      for (const term of node.terms) if (holds(term, context)) return true;
      return false;
    case 'not':
      return !holds(node.term, context);
    default:
      return compareTerm(node, context);
  }
}

function comparePath(term: PathTerm, context: EvaluationContext): boolean {
  const { path, operator, operand } = term;
  const right = operand.constant ? operand.value : operand.evaluate(context);
  const test = operand.constant ? operand.test : operandTest(path, operator, right);
  if (test instanceof CascadeError) throw test;
  const root = rootOf(term, context);
  const value = test === null ? undefined : plainValue(root, path);
  if (test !== null && value !== undefined) return passesValue(test, path.kind, value);
  const leaves = leavesThrough(root, path);
  return test === null
    ? compareData(operator, leaves, right, path.indexed)
    : passes(test, path.kind, leaves, path.indexed ? 'position' : 'path');
}

/** The values that a term's left side yields. */
export const leavesAt = (term: PathTerm, context: EvaluationContext): Leaves => leavesThrough(rootOf(term, context), term.path);

/** The value at which a term's path begins. */
export const rootOf = ({ source, variable }: PathTerm, context: EvaluationContext): Value =>
  source === 'payload' ? context.payload(variable) : context.event(variable);

/** Compares two values of expressions by language.md 4.7. */
function compareValues(operator: CompareOperator, left: Value, right: Value): boolean {
  switch (operator) {
    case '==':
      return eq(left, right);
    case '!=':
      return ne(left, right);
    case '<':
      return lt(left, right);
    case '<=':
      return le(left, right);
    case '>':
      return gt(left, right);
    case '>=':
      return ge(left, right);
    case 'in':
      return inArray(left, right);
    case 'regex':
      return searchAtHost(left, right);
    default:
      return passes(
        parseTest(dataScope('value'), OPERATORS[operator], right),
        'Json',
        { values: [left], positioned: [], missing: false },
        'path',
      );
  }
}
