// Measures, rule by rule, the durations from an event's request to the stages of its rules. The number of names is bounded, so that many
// rules let neither memory nor /metrics grow without end.
import { LogHistogram } from '../platform/structures/index.ts';
import type { Stage } from '../runtime/context/index.ts';

/** Bounds of the rules that are measured by name; those whose first run comes later are measured as one. */
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

/** The measurements of one namespace's rules. */
export class NamespaceStages {
  readonly #namespace: string;
  readonly #mayName: (rules: number) => boolean;
  readonly #rules = new Map<string, StageDurations>();

  /** @param mayName whether one more rule may be measured by name, beside so many of this namespace; true counts it */
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
    // After the first rule without a name all later ones are measured together: the meaning of a name must not depend on rules that were
    // deleted meanwhile.
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

  /** All measurements. */
  *all(): Iterable<StageDurations> {
    for (const { rules } of this.#namespaces.values()) yield* rules;
  }

  /** Drops all measurements and starts anew. */
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
