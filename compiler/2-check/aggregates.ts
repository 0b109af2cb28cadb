// Aggregates in the bindings of a SELECT (language.md E8): which calls they are, and what they read.
import { AGGREGATES } from '../1-parse/index.ts';
import type { Call, Expression, Select } from '../ast.ts';
import { dottedPath } from './calls.ts';
import { childrenOf } from './walk.ts';

export const isAggregate = (node: Expression): node is Call =>
  node.type === 'Call' && node.callee.parts.length === 1 && AGGREGATES.has(node.callee.text);

/** Aggregates of a binding's expression, outermost only. */
export function aggregateCalls(node: Expression): Call[] {
  if (isAggregate(node)) return [node];
  return childrenOf(node).flatMap((child) => aggregateCalls(child as Expression));
}

/** The steps of the path that an aggregate reads; null for count() and count(*), undefined when it is an expression. */
export function aggregatePath(call: Call): readonly string[] | null | undefined {
  const [argument] = call.arguments.positional;
  if (!argument || argument.type === 'Star') return null;
  return dottedPath(argument as Expression) ?? undefined;
}

/** An aggregate over an expression is worked out where the program runs, from the rows; all others by the host. */
export function hasComputedAggregate(node: Select): boolean {
  const values = (node.bindings ?? []).flatMap((binding) => binding.value ?? []);
  return values.flatMap(aggregateCalls).some((call) => aggregatePath(call) === undefined);
}
