// What a SELECT reads, groups and computes: the plan behind the request and the projection of its rows (language.md E7 to E9).
import type { Binding, Call, Expression, Lambda, Path, Select } from '../ast.ts';
import { aggregateCalls, aggregatePath } from '../2-check/aggregates.ts';
import { resultVariable } from '../2-check/body.ts';
import { childrenOf } from '../2-check/walk.ts';
import { pathOn } from './where.ts';

/** Names of aggregates that stand inside an expression: they come under these, the projection takes them away. */
const HIDDEN = 'ars_aggregate';

export interface Aggregate {
  readonly name: string;
  readonly function: string;
  /** null: all rows are counted. */
  readonly path: string | null;
  /** Instead of a path: an expression over the row. */
  readonly expression: Expression | null;
}
export interface Plan {
  /** Paths to read; null: all of the instance. */
  readonly props: readonly string[] | null;
  readonly groupBy: readonly string[];
  readonly aggregates: readonly Aggregate[];
  readonly grouped: boolean;
  /** The aggregates are worked out here, as one of them is over an expression. */
  readonly local: boolean;
  /** Rows must be rebuilt, as a binding is more than a path or one aggregate. */
  readonly computed: boolean;
  readonly hidden: ReadonlyMap<object, string>;
  readonly pathOf: (path: Path) => string;
  /** A plain binding that is not grouped (E9). */
  readonly ungrouped: string | null;
}

export function planOf(node: Select): Plan {
  const variable = resultVariable(node)?.name ?? null;
  const pathOf = (path: Path): string => pathOn(variable)(path.parts.map((part) => part.name));
  const groupBy = node.groupBy.map(pathOf);
  const bindings = node.bindings ?? [];
  const { aggregates, hidden, computed } = aggregatesOf(bindings, pathOn(variable));
  const grouped = aggregates.length > 0 || groupBy.length > 0;
  const local = aggregates.some((aggregate) => aggregate.expression !== null);
  const plain = bindings.filter((binding) => binding.value === null).map((binding) => pathOf(binding.path));
  const ungrouped = grouped ? (plain.find((path) => !groupBy.includes(path)) ?? null) : null;
  const read = [...new Set([...plain, ...groupBy, ...bindings.flatMap(readBy)])];
  const props = node.bindings === null || (grouped && !local) ? null : read;
  return { props, groupBy, aggregates, grouped, local, computed, hidden, pathOf, ungrouped };
}

function aggregatesOf(
  bindings: readonly Binding[],
  pathOf: (steps: readonly string[]) => string,
): Pick<Plan, 'aggregates' | 'hidden' | 'computed'> {
  const aggregates: Aggregate[] = [];
  const hidden = new Map<object, string>();
  let computed = false;
  for (const { path, value } of bindings) {
    if (value === null) continue;
    const calls = aggregateCalls(value);
    if (calls[0] !== value) computed = true;
    for (const call of calls) {
      const name = call === value ? path.text : `${HIDDEN}${hidden.size}`;
      if (call !== value) hidden.set(call, name);
      const steps = aggregatePath(call);
      const expression = steps === undefined ? (call.arguments.positional[0] as Expression) : null;
      aggregates.push({ name, function: call.callee.text, path: steps ? pathOf(steps) : null, expression });
    }
  }
  return { aggregates, hidden, computed };
}

/** Properties that the expression of a binding reads. */
function readBy({ value }: Binding): string[] {
  const names: string[] = [];
  const visit = (node: { readonly type: string }, locals: readonly string[]): void => {
    const read = (name: string): number | false => !locals.includes(name) && names.push(name);
    if (node.type === 'Name') read((node as Extract<Expression, { type: 'Name' }>).name);
    if (node.type === 'Call' && (node as Call).callee.parts.length > 1) read((node as Call).callee.parts[0]?.name ?? '');
    const inner = node.type === 'Lambda' ? [...locals, ...(node as Lambda).parameters.map((parameter) => parameter.name)] : locals;
    for (const child of childrenOf(node)) visit(child, inner);
  };
  if (value) visit(value, []);
  return names;
}
