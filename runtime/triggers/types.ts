// What the trigger index is given and what it gives: rules with their triggers, and why a rule did or did not match.
import type { Clock } from '../../platform/clock/index.ts';
import type { ConditionData, TriggerSpec } from '../../compiler/types.ts';
import type { ObjectValue, Value } from '../../stdlib/values/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';

export interface IndexedRule {
  /** The full name: `name`, or `name:version`. */
  readonly name: string;
  /** What the versions of one rule have in common. */
  readonly baseName: string;
  /** Null is the version with the empty name, the oldest of all. */
  readonly version: string | null;
  readonly triggers: readonly TriggerSpec[];
  /** RULE … WHERE: filters, and picks the version (language.md 6.4). */
  readonly where: ConditionData | null;
  /** The owner's; the index only hands it back. */
  readonly payload: unknown;
}

/** A rule, or the version of it, that runs for an event. */
export interface Chosen {
  readonly rule: IndexedRule;
  /** Whether it does is for programs to decide: what the index can tell of its conditions holds. */
  readonly asks: boolean;
  /** The version that runs when it does not. */
  readonly next: Chosen | null;
}

/** A trigger that an event satisfies, before versions are chosen: what correlations are fed with. */
export interface TriggerMatch {
  readonly rule: IndexedRule;
  /** Index into `rule.triggers`. */
  readonly trigger: number;
}

/** What conditions need from the outside. */
export interface ConditionEnvironment {
  /** The type of a name in `/types/<name>/…`; null where nothing is declared. */
  typeOf(name: string): TypeDefinition | null;
  /** The plain form of a pure built-in, by the name that the compiler has for it. */
  builtin(name: string): ((...args: Value[]) => Value) | undefined;
  readonly namespace: string;
  /** The machine's clock when absent. */
  readonly clock?: Clock;
}

export interface TriggerIndexOptions extends ConditionEnvironment {
  /** An error inside a condition, which counts as false (language.md 6.1). */
  onError(rule: IndexedRule, error: unknown): void;
}

/** The event that conditions look at, by the variable that is bound to it. */
export interface EvaluationContext {
  /** What programs have been asked for, by its text. */
  readonly asked?: ReadonlyMap<string, Value>;
  payload(variable: string): Value;
  event(variable: string): ObjectValue;
}

/** How one term of a condition came out, with the values it was decided on. */
export interface DecidedTerm {
  readonly operator: string;
  /** What the left side yields: the values at a path, or the one value of an expression. */
  readonly left: Value;
  readonly right: Value;
  readonly result: boolean;
  /** The path of the left side, where it is one. */
  readonly path: string | null;
  readonly error?: unknown;
}

export interface Explanation {
  readonly rule: IndexedRule;
  readonly matched: boolean;
  /** The rest of its conditions is for programs to decide. */
  readonly asks: boolean;
  /** `version`: a younger version was chosen. Null when it matched. */
  readonly reason: 'condition' | 'ruleWhere' | 'version' | null;
  /** The term that decided; null where there was no condition. */
  readonly term: DecidedTerm | null;
}
