// What a SELECT reads, groups and computes: the plan behind the request and the projection of its rows (language.md E7 to E9).
import type { Binding, Expression, Path, Select } from '../ast.ts';
import { aggregateCalls, aggregatePath } from '../2-check/aggregates.ts';
import { resultVariable } from '../2-check/body.ts';
import type { Model } from '../2-check/index.ts';
import { pathOn, rowReads } from './row-paths.ts';

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
  /** What the text calls a row. */
  readonly variable: string | null;
  readonly groupBy: readonly string[];
  readonly aggregates: readonly Aggregate[];
  readonly grouped: boolean;
  /** The aggregates are worked out here, as one of them is over an expression. */
  readonly local: boolean;
  /** Rows must be rebuilt, as a binding is more than a path or one aggregate. */
  readonly computed: boolean;
  readonly hidden: ReadonlyMap<object, string>;
  readonly pathOf: (path: Path) => string;
  /** A property that is bound, or read by a computed binding, and not grouped (E9). */
  readonly ungrouped: string | null;
}

export function planOf(node: Select, model: Model): Plan {
  const variable = resultVariable(node)?.name ?? null;
  const pathOf = (path: Path): string => pathOn(variable)(path.parts.map((part) => part.name));
  const groupBy = node.groupBy.map(pathOf);
  const bindings = node.bindings ?? [];
  const { aggregates, hidden, computed } = aggregatesOf(bindings, pathOn(variable));
  const grouped = aggregates.length > 0 || groupBy.length > 0;
  const local = aggregates.some((aggregate) => aggregate.expression !== null);
  const plain = bindings.filter((binding) => binding.value === null).map((binding) => pathOf(binding.path));
  const readFrom = (from: 'instances' | 'groups'): string[] =>
    bindings.flatMap(({ value }) => (value ? rowReads(value, variable, model, from) : []));
  const inGroups = (path: string): boolean =>
    aggregates.some(({ name }) => name === firstStep(path)) || groupBy.some((key) => path === key || path.startsWith(`${key}.`));
  const missing = grouped && [...plain.filter((path) => !groupBy.includes(path)), ...readFrom('groups').filter((path) => !inGroups(path))];
  const ungrouped = missing ? (missing[0] ?? null) : null;
  const read = [...new Set([...plain, ...groupBy, ...readFrom('instances').map(firstStep)])];
  const props = node.bindings === null || (grouped && !local) ? null : read;
  return { props, variable, groupBy, aggregates, grouped, local, computed, hidden, pathOf, ungrouped };
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

export const firstStep = (path: string): string => path.split('.')[0] ?? '';
