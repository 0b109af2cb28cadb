// How long it takes from an event to what its rules make of it, rule by rule: each stage is a duration since the event's request came. Names of rules
// are bounded, so that who makes rules without end makes neither memory nor lines of /metrics grow.
import { LogHistogram } from '../platform/structures/index.ts';
import type { Stage } from '../runtime/context/index.ts';

/** How many are measured by name; what runs first after that many is measured as one. */
export interface Bounds {
  /** Rules of one namespace. */
  readonly rules: number;
  /** Rules of all namespaces together: each takes up to 24 KiB here and 96 lines of /metrics. */
  readonly inAll: number;
  readonly namespaces: number;
}
const BOUNDS: Bounds = { rules: 50, inAll: 300, namespaces: 100 };
export const OTHERS = '-';

export interface StageDurations {
  readonly namespace: string;
  readonly rule: string;
  readonly stages: Map<Stage, LogHistogram>;
}

/** The rules of one namespace. */
export class NamespaceStages {
  readonly #namespace: string;
  readonly #mayName: (rules: number) => boolean;
  readonly #rules = new Map<string, StageDurations>();

  /** @param mayName whether one more rule is measured by name, beside so many of this namespace; true counts it */
  constructor(namespace: string, mayName: (rules: number) => boolean) {
    this.#namespace = namespace;
    this.#mayName = mayName;
  }

  add(rule: string, stage: Stage, ms: number): void {
    const { stages } = this.#rules.get(rule) ?? this.#first(rule);
    const durations = stages.get(stage);
    if (durations) durations.add(ms);
    else {
      const made = new LogHistogram();
      made.add(ms);
      stages.set(stage, made);
    }
  }

  get rules(): Iterable<StageDurations> {
    return this.#rules.values();
  }

  reset(): void {
    this.#rules.clear();
  }

  #first(rule: string): StageDurations {
    const others = this.#rules.get(OTHERS);
    // Once one was measured with the others, all that come later are: what a name says doesn't depend on who has gone meanwhile.
    const name = !others && this.#mayName(this.#rules.size) ? rule : OTHERS;
    if (name === OTHERS && others) return others;
    const made = { namespace: this.#namespace, rule: name, stages: new Map<Stage, LogHistogram>() };
    this.#rules.set(name, made);
    return made;
  }
}

export class RuleStages {
  readonly #namespaces = new Map<string, NamespaceStages>();
  #bounds = BOUNDS;
  #named = 0;

  of(namespace: string): NamespaceStages {
    const name = this.#namespaces.has(namespace) || this.#namespaces.size < this.#bounds.namespaces ? namespace : OTHERS;
    let known = this.#namespaces.get(name);
    if (!known) this.#namespaces.set(name, (known = new NamespaceStages(name, (rules) => name !== OTHERS && this.#mayName(rules))));
    return known;
  }

  /** All that has been measured. */
  *all(): Iterable<StageDurations> {
    for (const { rules } of this.#namespaces.values()) yield* rules;
  }

  /** Counts anew from now on. */
  reset(bounds: Bounds = this.#bounds): void {
    this.#bounds = bounds;
    this.#named = 0;
    for (const namespace of this.#namespaces.values()) namespace.reset();
  }

  #mayName(rules: number): boolean {
    if (rules >= this.#bounds.rules || this.#named >= this.#bounds.inAll) return false;
    this.#named++;
    return true;
  }
}
