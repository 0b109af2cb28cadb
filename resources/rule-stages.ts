// How long it takes from an event to what its rules make of it, rule by rule: each stage is a duration since the event's request came. Names of rules
// are bounded, so that who makes rules without end makes neither memory nor lines of /metrics grow.
import { LogHistogram } from '../platform/structures/log-histogram.ts';
import type { Stage } from '../runtime/events/stages.ts';

/** Rules of a namespace that are measured by name; what runs first after that many is measured as one. */
const MOST_RULES = 50;
/** Namespaces that are. */
const MOST_NAMESPACES = 100;
export const OTHERS = '-';

export interface StageDurations {
  readonly namespace: string;
  readonly rule: string;
  readonly stages: Map<Stage, LogHistogram>;
}

/** The rules of one namespace. */
export class NamespaceStages {
  readonly #namespace: string;
  readonly #rules = new Map<string, StageDurations>();

  constructor(namespace: string) {
    this.#namespace = namespace;
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

  #first(rule: string): StageDurations {
    const name = this.#rules.size < MOST_RULES ? rule : OTHERS;
    const known = this.#rules.get(name);
    if (known) return known;
    const made = { namespace: this.#namespace, rule: name, stages: new Map<Stage, LogHistogram>() };
    this.#rules.set(name, made);
    return made;
  }
}

export class RuleStages {
  readonly #namespaces = new Map<string, NamespaceStages>();

  of(namespace: string): NamespaceStages {
    const name = this.#namespaces.has(namespace) || this.#namespaces.size < MOST_NAMESPACES ? namespace : OTHERS;
    let known = this.#namespaces.get(name);
    if (!known) this.#namespaces.set(name, (known = new NamespaceStages(name)));
    return known;
  }

  /** All that has been measured. */
  *all(): Iterable<StageDurations> {
    for (const { rules } of this.#namespaces.values()) yield* rules;
  }

  /** Counts anew from now on. */
  reset(): void {
    for (const { rules } of this.#namespaces.values()) for (const { stages } of rules) stages.clear();
  }
}
