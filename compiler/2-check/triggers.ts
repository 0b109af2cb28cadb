// The triggers of a rule: paths, variables, aliases, intervals (language.md 2.2, 6.1 to 6.3). Their conditions become data.
import type {
  BeforeClause,
  Condition,
  CorrelationTrigger,
  Expression,
  MergeTrigger,
  RuleDefinition,
  SingleTrigger,
  Span,
  Trigger,
} from '../ast.ts';
import type { CorrelationSpec, TriggerSpec } from '../types.ts';
import type { CallResolver } from './calls.ts';
import { type Bound, ConditionWriter } from './condition-data.ts';
import { fold } from './constants.ts';
import { normalizeEventPath, topicEventPath } from './event-paths.ts';
import { and, branchGuard, type Split, splitCondition } from './guards.ts';
import type { Names, RuleFacts } from './model.ts';
import type { Report } from './report.ts';

export function checkTriggers(node: RuleDefinition, names: Names, resolver: CallResolver, report: Report): RuleFacts {
  if (node.timeout && !hasTimer(node)) report(node, 'cascade.rule.timeout', 'TIMEOUT needs WITHIN or EXPECT');
  const writer = new ConditionWriter(resolver, report);
  const { trigger } = node;
  const checker = new TriggerChecker(names, writer, report, leavesGuards(node) ? resolver : null);
  const root = trigger.type === 'Before' ? checker.before(trigger) : checker.trigger(trigger.trigger);
  const merge = trigger.type === 'When' && trigger.trigger.type === 'MergeTrigger' ? trigger.trigger : null;
  const { triggers } = checker;
  const constraint = checker.split(merge?.constraint ?? null, triggers.slice(0, 1));
  // Which version runs is decided before any of them does (V4).
  const where = node.version ? { data: node.where, guard: null } : checker.split(node.where, triggers);
  const ofTrigger = [checker.guard, constraint.guard].filter((guard) => guard !== null);
  const guards = where.guard ? [...ofTrigger, where.guard] : ofTrigger;
  return {
    triggers,
    correlation: typeof root === 'number' ? null : root,
    constraint: constraint.data && writer.condition(constraint.data, triggers.slice(0, 1)),
    where: where.data && writer.condition(where.data, triggers),
    variables: [...new Set(triggers.map((spec) => spec.variable))],
    expectMs: trigger.type === 'When' && trigger.expect ? interval(trigger.expect.interval, report) : null,
    guard: guards.length > 0 ? guards.reduce(and) : null,
    guardText: ofTrigger.length > 0 ? textOf(ofTrigger) : null,
  };
}

/** May a part of a condition be left to the body? Not where an event does more than begin it: it opens an evaluation, or a time to wait. */
const leavesGuards = ({ trigger }: RuleDefinition): boolean =>
  trigger.type === 'Before' || (trigger.expect === null && trigger.trigger.type !== 'CorrelationTrigger');

/** Guards without their places, to compare. */
const textOf = (guards: readonly Expression[]): string =>
  JSON.stringify(guards, (key, value: unknown) => {
    if (typeof value === 'bigint') return String(value);
    return key === 'start' || key === 'end' || key.endsWith('Span') ? undefined : value;
  });

function hasTimer(node: RuleDefinition): boolean {
  return node.trigger.type === 'When' && (node.trigger.expect !== null || node.trigger.trigger.type === 'CorrelationTrigger');
}

class TriggerChecker {
  readonly triggers: TriggerSpec[] = [];
  readonly #names: Names;
  readonly #writer: ConditionWriter;
  readonly #report: Report;
  /** What of a condition may be left to the body; null: nothing may. */
  readonly #resolver: CallResolver | null;
  /** What the body begins with. */
  guard: Expression | null = null;
  constructor(names: Names, writer: ConditionWriter, report: Report, resolver: CallResolver | null) {
    this.#resolver = resolver;
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
    const split = this.split(node.where, [bound]);
    this.guard = split.guard;
    const condition = split.data && this.#writer.condition(split.data, [bound]);
    return this.triggers.push({ paths: paths.filter((path) => path !== null), ...bound, condition }) - 1;
  }

  /** The part of a condition that the index decides, and the one that is left to the body. */
  split(node: Condition | null, bound: Bound): Split {
    return node && this.#resolver ? splitCondition(node, bound, this.#resolver) : { data: node, guard: null };
  }

  #merge(node: MergeTrigger): number {
    const guards: (Expression | null)[] = [];
    const indexes = node.branches.map((branch) => {
      const index = this.#single(branch);
      guards.push(this.guard);
      return index;
    });
    this.guard = this.#branchGuard(node.branches, indexes, guards);
    const first = this.triggers[indexes[0] ?? 0];
    for (const [position, branch] of node.branches.entries())
      if (this.triggers[indexes[position] ?? 0]?.variable !== first?.variable)
        this.#report(branch, 'cascade.rule.merge.alias', `all events of an OR need the same variable, here '${first?.variable}'`);
    return indexes[0] ?? 0;
  }

  /** An event knows its path, an instance does not. */
  #branchGuard(branches: readonly SingleTrigger[], indexes: readonly number[], guards: readonly (Expression | null)[]): Expression | null {
    const found = branches.map((branch, position) => {
      const spec = this.triggers[indexes[position] ?? 0] as TriggerSpec;
      return { bound: spec, paths: spec.paths, where: branch.where, guard: guards[position] ?? null, at: branch };
    });
    const told = found.find(({ guard }) => guard !== null);
    if (!told?.guard || found.every(({ bound }) => bound.binds === 'event')) return branchGuard(found);
    const hint = 'write EVENT OCCURS ON "/types/…", or put it into CONSTRAIN TO';
    this.#report(told.guard, 'cascade.lang.syntax', 'a branch of an OR cannot be decided by a program here', hint);
    return null;
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

/** A constant number of milliseconds above 0. */
function interval(node: Expression, report: Report): number {
  const value = fold(node);
  if (typeof value === 'bigint' && value > 0n && value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  report(node, 'cascade.rule.interval', 'an interval is a constant above 0');
  return 1;
}
