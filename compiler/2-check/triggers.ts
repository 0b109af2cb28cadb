// The triggers of a rule: paths, variables, aliases, intervals (language.md 2.2, 6.1 to 6.3). Their conditions become data.
import type { BeforeClause, CorrelationTrigger, Expression, MergeTrigger, RuleDefinition, SingleTrigger, Span, Trigger } from '../ast.ts';
import type { CorrelationSpec, TriggerSpec } from '../types.ts';
import type { CallResolver } from './calls.ts';
import { ConditionWriter } from './condition-data.ts';
import { fold } from './constants.ts';
import { normalizeEventPath, topicEventPath } from './event-paths.ts';
import type { Names, RuleFacts } from './model.ts';
import type { Report } from './report.ts';

export function checkTriggers(node: RuleDefinition, names: Names, resolver: CallResolver, report: Report): RuleFacts {
  if (node.timeout && !hasTimer(node)) report(node, 'cascade.rule.timeout', 'TIMEOUT needs WITHIN or EXPECT');
  const writer = new ConditionWriter(resolver, report);
  const { trigger } = node;
  const checker = new TriggerChecker(names, writer, report);
  const root = trigger.type === 'Before' ? checker.before(trigger) : checker.trigger(trigger.trigger);
  const merge = trigger.type === 'When' && trigger.trigger.type === 'MergeTrigger' ? trigger.trigger : null;
  const { triggers } = checker;
  return {
    triggers,
    correlation: typeof root === 'number' ? null : root,
    constraint: merge?.constraint ? writer.condition(merge.constraint, triggers) : null,
    where: node.where && writer.condition(node.where, triggers),
    variables: [...new Set(triggers.map((spec) => spec.variable))],
    renamed: checker.renamed,
    expectMs: trigger.type === 'When' && trigger.expect ? interval(trigger.expect.interval, report) : null,
    asked: writer.asked,
  };
}

function hasTimer(node: RuleDefinition): boolean {
  return node.trigger.type === 'When' && (node.trigger.expect !== null || node.trigger.trigger.type === 'CorrelationTrigger');
}

class TriggerChecker {
  readonly triggers: TriggerSpec[] = [];
  readonly renamed = new Map<string, string>();
  readonly #names: Names;
  readonly #writer: ConditionWriter;
  readonly #report: Report;
  constructor(names: Names, writer: ConditionWriter, report: Report) {
    this.#names = names;
    this.#writer = writer;
    this.#report = report;
  }

  /** @returns the index of the only binding, or how several are correlated */
  trigger(node: Trigger): number | CorrelationSpec {
    if (node.type === 'MergeTrigger') return this.#merge(node);
    return node.type === 'CorrelationTrigger' ? this.#correlation(node) : this.#single(node);
  }

  before(node: BeforeClause): number {
    const type = this.#names.type(node.target.text);
    return this.#add(node, { paths: [`/types/${type}/${node.operation}`], binds: 'value', name: lastPart(node.target.text) });
  }

  #single(node: SingleTrigger): number {
    const found = (kinds[node.type] as (node: SingleTrigger, names: Names) => Found)(node, this.#names);
    if (found.paths.includes(null)) this.#report(found.at, 'cascade.event.path.invalid', 'this is not an event path');
    return this.#add(node, found);
  }

  #add(node: SingleTrigger | BeforeClause, { paths, binds, name }: Omit<Found, 'at'>): number {
    const bound = { variable: node.alias?.name ?? name, binds };
    if (node.alias) this.renamed.set(name, `the event is called '${bound.variable}' here`);
    const condition = node.where && this.#writer.condition(node.where, [bound]);
    return this.triggers.push({ paths: paths.filter((path) => path !== null), ...bound, condition }) - 1;
  }

  #merge(node: MergeTrigger): number {
    const indexes = node.branches.map((branch) => this.#single(branch));
    const first = this.triggers[indexes[0] ?? 0];
    for (const [position, branch] of node.branches.entries())
      if (this.triggers[indexes[position] ?? 0]?.variable !== first?.variable)
        this.#report(branch, 'cascade.rule.merge.alias', `all events of an OR need the same variable, here '${first?.variable}'`);
    return indexes[0] ?? 0;
  }

  #correlation(node: CorrelationTrigger): CorrelationSpec {
    const from = this.triggers.length;
    const left = this.#term(node.left);
    const right = this.#term(node.right);
    const withinMs = interval(node.within, this.#report);
    const constraint = node.constraint && this.#writer.condition(node.constraint, this.triggers.slice(from));
    return { operator: node.operator, left, right, withinMs, constraint };
  }

  #term(node: SingleTrigger | CorrelationTrigger): number | CorrelationSpec {
    if (node.type === 'CorrelationTrigger') return this.#correlation(node);
    const index = this.#single(node);
    const variable = this.triggers[index]?.variable;
    const twin = this.triggers.findIndex((spec) => spec.variable === variable) !== index;
    if (twin) this.#report(node, 'cascade.rule.alias.required', `two events are called '${variable}': name them apart with AS`);
    return index;
  }
}

interface Found {
  /** null: not an event path. */
  readonly paths: readonly (string | null)[];
  readonly at: Span;
  readonly binds: TriggerSpec['binds'];
  /** The variable without AS. */
  readonly name: string;
}
type Single<T extends SingleTrigger['type']> = Extract<SingleTrigger, { type: T }>;
const kinds: {
  [T in SingleTrigger['type']]: (
    node: Single<T>,
    names: Names,
  ) => { paths: (string | null)[]; at: Span; binds: TriggerSpec['binds']; name: string };
} = {
  EventTrigger: (node, names) => ({
    paths: [normalizeEventPath(node.path.value, names)],
    at: node.path,
    binds: 'event',
    name: 'event',
  }),
  TypeTrigger: (node, names) => {
    const type = names.type(node.target.text);
    const operations = node.operation ? [node.operation] : ['insert', 'update', 'delete'];
    return {
      paths: operations.map((operation) => `/types/${type}/${operation}`),
      at: node.target,
      binds: 'value',
      name: lastPart(node.target.text),
    };
  },
  TopicTrigger: (node, names) => ({ paths: [topicEventPath(node.topic.value, names)], at: node.topic, binds: 'event', name: 'event' }),
  SourceTrigger: (node, names) => ({
    paths: [`/sources/${names.source(node.source.text)}/publish`],
    at: node.source,
    binds: 'value',
    name: lastPart(node.source.text),
  }),
};

const lastPart = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

/** A million days: what a rule waits for ends within the times that there are. */
const LONGEST_MS = 86_400_000n * 1_000_000n;

/** A constant number of milliseconds above 0. */
function interval(node: Expression, report: Report): number {
  const value = fold(node);
  if (typeof value === 'bigint' && value > 0n && value <= LONGEST_MS) return Number(value);
  report(node, 'cascade.rule.interval', 'an interval is a constant above 0, and at most a million days');
  return 1;
}
