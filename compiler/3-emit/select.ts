// SELECT as a value: the request to the host, and what is left to do with the rows here (language.md 5.7).
import type * as es from 'estree';
import type { Select } from '../ast.ts';
import { resultVariable } from '../2-check/body.ts';
import * as b from './build.ts';
import type { ModuleWriter, Row } from './context.ts';
import { emitOptions, emitSource, emitType, optionValue } from './references.ts';
import { emitRowProperty, pathOn } from './row-paths.ts';
import { firstStep, type Plan, planOf } from './select-plan.ts';
import { emitWhere } from './where.ts';

/** SELECT as a value. */
export function emitSelect(node: Select, module: ModuleWriter): es.Expression {
  if (node.cardinality === 'sequence') return emitRows(node, module);
  const cardinality = node.cardinality ?? 'array';
  if (node.fromSource) {
    const value = module.operation('query', node, sourceRequest(node, module));
    return module.helper('sourceResult', node, value, b.literal(cardinality));
  }
  const plan = planOf(node, module.model);
  if (plan.ungrouped !== null) return refusal(node, plan.ungrouped, module);
  const rows = plan.local
    ? aggregated(node, plan, cardinality, module)
    : module.operation('select', node, payload(node, plan, cardinality, module));
  return projected(rows, plan, node, module);
}

/** SELECT as a Sequence: asked for when the first row is pulled, then page by page. */
export function emitRows(node: Select, module: ModuleWriter): es.Expression {
  if (node.fromSource) return module.helper('sourceRows', node, b.id('$'), module.site(), sourceRequest(node, module));
  const plan = planOf(node, module.model);
  if (plan.ungrouped !== null) return refusal(node, plan.ungrouped, module);
  const rows = plan.local ? aggregated(node, plan, 'sequence', module) : pages(node, plan, module);
  return projected(rows, plan, node, module);
}

function pages(node: Select, plan: Plan, module: ModuleWriter): es.Expression {
  return module.helper('rows', node, b.id('$'), module.site(), payload(node, plan, 'sequence', module));
}

function sourceRequest(node: Select, module: ModuleWriter): es.Expression {
  return b.object([
    ['source', emitSource(node.from, module)],
    ['request', emitOptions(node.options, module)],
  ]);
}

/** A binding that is neither grouped nor aggregated (E9). */
function refusal(node: Select, path: string, module: ModuleWriter): es.Expression {
  return module.helper('raise', node, b.id('$'), b.literal('cascade.query.group'), emitType(node.from, module), b.literal(path));
}

// ---------------------------------------------------------------- the request

function payload(node: Select, plan: Plan, cardinality: string, module: ModuleWriter): es.Expression {
  const strings = (texts: readonly string[]): es.Expression => b.array(texts.map((text) => b.literal(text)));
  const order = node.orderBy.map((key) => b.array([b.literal(plan.pathOf(key.path)), b.literal(key.descending)]));
  const members: [string, es.Expression][] = [
    ['resource', emitType(node.from, module)],
    ['where', emitWhere(node.where, pathOn(resultVariable(node)?.name ?? null), module)],
    ['props', plan.props === null ? b.literal(null) : strings(plan.props)],
  ];
  if (plan.grouped && !plan.local) {
    const aggregates = plan.aggregates.map(
      (aggregate) => [aggregate.name, b.array([b.literal(aggregate.function), b.literal(aggregate.path)])] as const,
    );
    members.push(['aggregates', b.object(aggregates)], ['groupBy', strings(plan.groupBy)]);
  }
  members.push(['orderBy', b.array(order)]);
  for (const name of plan.local ? [] : ['limit', 'skip']) {
    const value = optionValue(node.options, name);
    if (value) members.push([name, module.value(value)]);
  }
  const others = node.options.filter((option) => !/^(?:limit|skip)$/i.test(option.key));
  members.push(['cardinality', b.literal(cardinality)], ['options', emitOptions(others, module)]);
  if (module.model.computed.selects.has(node)) members.push(['forChange', b.literal(true)]);
  return b.object(members);
}

/** Aggregates over expressions: the rows come page by page and are gathered here. */
function aggregated(node: Select, plan: Plan, cardinality: string, module: ModuleWriter): es.Expression {
  return b.delegate(module.helper('aggregate', node, b.id('$'), pages(node, plan, module), ...gathering(node, plan, cardinality, module)));
}

/** What `aggregate` does with the rows. */
function gathering(node: Select, plan: Plan, cardinality: string, module: ModuleWriter): es.Expression[] {
  const option = (name: string): es.Expression => {
    const value = optionValue(node.options, name);
    return value ? module.value(value) : b.literal(null);
  };
  const wanted = plan.aggregates.map((aggregate) => {
    const { name, path, expression } = aggregate;
    const read = expression
      ? onRow(module, { variable: plan.variable, groups: [], hidden: null }, () => module.value(expression))
      : b.literal(path);
    return b.array([b.literal(name), b.literal(aggregate.function), read]);
  });
  const groupBy = b.array(plan.groupBy.map((path) => b.literal(path)));
  return [groupBy, b.array(wanted), b.literal(cardinality), option('limit'), option('skip'), emitType(node.from, module)];
}

export interface NodeSelect {
  readonly kind: 'select' | 'query';
  readonly payload: es.Expression;
  /** Rows of a node are gathered by this; null: they are aggregated there, or not at all. */
  readonly gathering: es.Expression[] | null;
  readonly projection: es.Expression | null;
}

/** What is asked of each node of a SELECT … PROCESSED BY, and what is left to do with its rows here (language.md D8). */
export function nodeSelect(node: Select, module: ModuleWriter): NodeSelect | es.Expression {
  if (node.fromSource) return { kind: 'query', payload: sourceRequest(node, module), gathering: null, projection: null };
  const plan = planOf(node, module.model);
  if (plan.ungrouped !== null) return refusal(node, plan.ungrouped, module);
  const cardinality = node.cardinality === 'one' || node.cardinality === 'exactlyOne' ? node.cardinality : 'array';
  return {
    kind: 'select',
    payload: payload(node, plan, plan.local ? 'array' : cardinality, module),
    gathering: plan.local ? gathering(node, plan, cardinality === 'array' ? 'rows' : cardinality, module) : null,
    projection: projection(plan, node, module),
  };
}
/** A function of a row; inside it names are the row's properties. */
function onRow(module: ModuleWriter, row: Omit<Row, 'name'>, make: () => es.Expression): es.Expression {
  const name = module.name('row');
  const outer = module.row;
  module.row = { name, ...row };
  const body = module.body(() => [b.returns(make())]);
  module.row = outer;
  return b.arrow([b.id(name)], b.block(body));
}

/** Rows with computed bindings are built anew from what was read (E7). */
function projected(rows: es.Expression, plan: Plan, node: Select, module: ModuleWriter): es.Expression {
  const make = projection(plan, node, module);
  return make ? module.helper('project', node, rows, make) : rows;
}

/** The function that builds a row anew; null where rows stay as they are read. */
function projection(plan: Plan, node: Select, module: ModuleWriter): es.Expression | null {
  if (!plan.computed) return null;
  const { variable, groupBy, hidden } = plan;
  // A group's row has whole paths for names (E9).
  const nameOf = (path: string): string => (plan.grouped ? path : firstStep(path));
  return onRow(module, { variable, groups: groupBy, hidden }, () => {
    const read = (name: string): es.Expression => emitRowProperty(name, node, module);
    const members = new Map<string, es.Expression>();
    for (const { path, value } of node.bindings ?? []) {
      const isAggregate = plan.aggregates.some((aggregate) => aggregate.name === path.text);
      const name = value === null ? nameOf(plan.pathOf(path)) : path.text;
      members.set(name, value === null || isAggregate ? read(name) : module.value(value));
    }
    for (const path of plan.grouped ? plan.groupBy : ['_id']) {
      const name = nameOf(path);
      if (!members.has(name)) members.set(name, read(name));
    }
    return b.object([...members]);
  });
}
