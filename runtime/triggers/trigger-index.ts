// Finds the rules that an event triggers: by event path, then by condition, so that 100,000 rules of which one matches cost about as much
// as one rule. Rules can be added and removed at any time.
import type { ConditionData } from '../../compiler/types.ts';
import type { ObjectValue, Value } from '../../stdlib/values/index.ts';
import { BudgetExceeded } from '../../model/query/index.ts';
import { askedIn, withoutAsked } from './asked.ts';
import { holds } from './compare-term.ts';
import type { Entry, Visit } from './entry.ts';
import { EventIndex } from './event-index.ts';
import { explainEntries } from './explain.ts';
import { contextOf, typeAt } from './evaluation-context.ts';
import { compileCondition, type Node, type Variables } from './terms.ts';
import type { Chosen, Explanation, IndexedRule, EvaluationContext, TriggerIndexOptions, TriggerMatch } from './types.ts';
import { chooseVersions } from './versions.ts';

export class TriggerIndex {
  readonly #options: TriggerIndexOptions;
  readonly #events = new Map<string, EventIndex>();
  /** The entries of each rule, by its full name. */
  readonly #rules = new Map<string, readonly Entry[]>();
  #stamp = 0;
  /** Whether conditions that take too long here may be left for a program to decide. */
  #mayAsk = true;
  #around!: EvaluationContext;
  #payload: Value = null;
  #by = '';
  #first: Entry | null = null;
  #others: Entry[] = [];
  /** What went wrong in conditions since it was told last. */
  #failed: { rule: IndexedRule; error: unknown }[] = [];
  readonly #visit: Visit = (entry, exact) => {
    if (entry.stamp === this.#stamp || !entry.alive) return;
    entry.stamp = this.#stamp;
    const open = exact ? entry.residual : entry.condition;
    if (open !== null && !this.#isTrue(entry, open, this.#around)) return;
    if (this.#first === null) this.#first = entry;
    else this.#others.push(entry);
  };

  constructor(options: TriggerIndexOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#rules.size;
  }

  /** Throws what `add` would throw; nothing changes. */
  try(rule: IndexedRule): void {
    new TriggerIndex(this.#options).add(rule);
  }

  /** Adds a rule, in place of one with the same full name. */
  add(rule: IndexedRule): void {
    this.remove(rule.name);
    const entries: Entry[] = [];
    const asks = [rule.where, ...rule.triggers.map(({ condition }) => condition)].some((data) => askedIn(data).length > 0);
    for (const [trigger, spec] of rule.triggers.entries()) {
      for (const path of spec.paths) {
        const index = this.#events.get(path) ?? new EventIndex(path);
        this.#events.set(path, index);
        const type = typeAt(path, this.#options);
        const variables: Variables = new Map([[spec.variable, { binds: spec.binds, type, paths: index.variablePaths }]]);
        const compile = (data: ConditionData | null): Node | null => data && compileCondition(data, variables, this.#options);
        const [condition, where] = [withoutAsked(spec.condition), withoutAsked(rule.where)];
        entries.push(index.add(rule, trigger, compile(condition), compile(where), asks));
      }
    }
    this.#rules.set(rule.name, entries.slice()); // without the room for more that a growing array has
  }

  /** Removes a rule by its full name; an unknown name is ignored. */
  remove(name: string): void {
    for (const entry of this.#rules.get(name) ?? []) {
      const index = this.#events.get(entry.path);
      index?.remove(entry);
      if (index?.size === 0) this.#events.delete(entry.path);
    }
    this.#rules.delete(name);
  }

  /** Converts constants anew after a change of a type: of rules on its events, or of all rules on types when no name is given. */
  retype(typeName?: string): void {
    const prefix = typeName === undefined ? '/types/' : `/types/${typeName}/`;
    if (!this.#hasPath((path) => path.startsWith(prefix))) return; // a look at all rules for each of an import's types takes long
    const affected = [...this.#rules.values()].flatMap((entries) => entries.find(({ path }) => path.startsWith(prefix))?.rule ?? []);
    for (const rule of affected) this.remove(rule.name);
    for (const rule of affected) this.add(rule);
  }

  /** Whether any rule listens on an event path: if not, nothing about the event matters. */
  has(path: string): boolean {
    return this.#events.has(path);
  }

  /** Whether any rule listens on a path with this end. */
  hasSome(end: string): boolean {
    return this.#hasPath((path) => path.endsWith(end));
  }

  #hasPath(isMeant: (path: string) => boolean): boolean {
    for (const path of this.#events.keys()) if (isMeant(path)) return true;
    return false;
  }

  /**
   * The rules that run for an event, of each name one version.
   * @param event makes the event object (language.md 6.1), called only when a condition uses it
   * @param by the user who causes the event; empty: nobody's own
   */
  match(path: string, payload: Value, event: () => ObjectValue, by = ''): readonly Chosen[] {
    const index = this.#events.get(path);
    if (!index) return NONE;
    const context = contextOf(payload, event);
    this.#payload = payload;
    this.#by = by;
    this.#collect(index, context, true);
    const chosen = this.#choose(context);
    if (this.#failed.length > 0) this.#tellFailed();
    return chosen;
  }

  #choose(context: EvaluationContext): readonly Chosen[] {
    const first = this.#first;
    if (first === null) return NONE;
    if (this.#others.length === 0) return this.#applies(first, context) ? this.#chosen([first]) : NONE;
    const matched = oncePerRule([first, ...this.#others]);
    const chosen = chooseVersions(matched, (entry) => this.#applies(entry, context), this.#asks);
    return chosen.flatMap((tried) => this.#chosen(tried));
  }

  /** Whether a program decides, since the condition asks one or takes too long here. */
  readonly #asks = ({ asks, undecided }: Entry): boolean => asks || undecided === this.#stamp;

  #chosen(tried: readonly Entry[]): readonly Chosen[] {
    const last = tried[tried.length - 1] as Entry;
    if (tried.length === 1 && (last.asks || !this.#asks(last))) return last.alone;
    return [tried.reduceRight<Chosen | null>((next, entry) => ({ rule: entry.rule, asks: this.#asks(entry), next }), null) as Chosen];
  }

  /** Every trigger that an event satisfies; the caller decides RULE WHERE and versions (correlations choose when they complete). */
  matchTriggers(path: string, payload: Value, event: () => ObjectValue, by = ''): TriggerMatch[] {
    const index = this.#events.get(path);
    if (!index) return [];
    this.#collect(index, contextOf(payload, event), false); // a correlation takes events in order and cannot wait for a program here
    const matched = this.#first === null ? [] : [this.#first, ...this.#others];
    if (this.#failed.length > 0) this.#tellFailed();
    const { mayTake } = this.#options;
    const taken = mayTake ? matched.filter(({ rule }) => mayTake(rule, path, payload, by)) : matched;
    return taken.map(({ rule, trigger }) => ({ rule, trigger }));
  }

  /** The outcome of every rule on the path, with the term that decided. */
  explain(path: string, payload: Value, event: () => ObjectValue): Explanation[] {
    if (!this.has(path)) return [];
    const entries = [...this.#rules.values()].flatMap((all) => all.filter((entry) => entry.path === path));
    return explainEntries(entries, path, contextOf(payload, event), this.#options);
  }

  /** Sets `#first` and `#others` to the entries that an event satisfies: most events satisfy one at most, and no array is made for that. */
  #collect(index: EventIndex, context: EvaluationContext, mayAsk: boolean): void {
    this.#mayAsk = mayAsk;
    this.#stamp++;
    this.#around = context;
    this.#first = null;
    if (this.#others.length > 0) this.#others = [];
    index.visit(context, this.#visit);
  }

  #applies(entry: Entry, context: EvaluationContext): boolean {
    if (entry.where !== null && !this.#isTrue(entry, entry.where, context)) return false;
    return this.#options.mayTake?.(entry.rule, entry.path, this.#payload, this.#by) ?? true;
  }

  #isTrue(entry: Entry, condition: Node, context: EvaluationContext): boolean {
    try {
      return holds(condition, context);
    } catch (error) {
      if (error instanceof BudgetExceeded && this.#mayAsk) {
        entry.undecided = this.#stamp;
        return true;
      }
      this.#failed.push({ rule: entry.rule, error });
      return false;
    }
  }

  /** Only when the event at hand is matched: who hears of an error may raise an event, which is matched here in the meantime. */
  #tellFailed(): void {
    const failed = this.#failed;
    this.#failed = [];
    for (const { rule, error } of failed) this.#options.onError(rule, error);
  }
}

const NONE: readonly Chosen[] = [];

/** The entries without further ones of the same rule: a rule with several triggers on one path (a merge) runs once for an event. */
function oncePerRule(entries: readonly Entry[]): Entry[] {
  const first = new Map<string, Entry>();
  for (const entry of entries) if (!first.has(entry.rule.name)) first.set(entry.rule.name, entry);
  return [...first.values()];
}
