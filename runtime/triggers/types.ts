// The types of the trigger index: rules with their triggers, matches, and explanations.
import type { Clock } from '../../platform/clock/index.ts';
import type { ConditionData, TriggerSpec } from '../../compiler/types.ts';
import type { ObjectValue, Value } from '../../stdlib/values/index.ts';
import type { TypeDefinition } from '../../model/types/index.ts';

export interface IndexedRule {
  /** The full name: `name`, or `name:version`. */
  readonly name: string;
  /** The name that the versions of one rule share. */
  readonly baseName: string;
  /** The version; null is that with the empty name, the oldest of all. */
  readonly version: string | null;
  readonly triggers: readonly TriggerSpec[];
  /** RULE … WHERE: filters, and selects the version (language.md 6.4). */
  readonly where: ConditionData | null;
  /** The caller's data, which the index only returns. */
  readonly payload: unknown;
}

/** A rule, or the version of it, that runs for an event. */
export interface Chosen {
  readonly rule: IndexedRule;
  /** Whether programs decide; the part of its conditions that the index can decide holds. */
  readonly asks: boolean;
  /** The version that runs when the programs decide against this one. */
  readonly next: Chosen | null;
}

/** A trigger that an event satisfies, before versions are chosen: the input of correlations. */
export interface TriggerMatch {
  readonly rule: IndexedRule;
  /** Index into `rule.triggers`. */
  readonly trigger: number;
}

/** The parts outside the index that conditions need. */
export interface ConditionEnvironment {
  /** The type named in `/types/<name>/…`; null where it is not declared. */
  typeOf(name: string): TypeDefinition | null;
  /** A pure built-in in its plain form, by the compiler's name for it. */
  builtin(name: string): ((...args: Value[]) => Value) | undefined;
  readonly namespace: string;
  /** The clock of conditions; the machine's when absent. */
  readonly clock?: Clock;
}

export interface TriggerIndexOptions extends ConditionEnvironment {
  /** Called with an error inside a condition, which counts as false (language.md 6.1). */
  onError(rule: IndexedRule, error: unknown): void;
  /** Whether a rule may have an event that its conditions take; absent: all may. @param by who causes it */
  readonly mayTake?: (rule: IndexedRule, path: string, payload: Value, by: string) => boolean;
}

/** The events that a condition sees, by the variables that are bound to them. */
export interface EvaluationContext {
  /** Answers of programs, by the text of the question. */
  readonly asked?: ReadonlyMap<string, Value>;
  payload(variable: string): Value;
  event(variable: string): ObjectValue;
}

/** The outcome of one term of a condition, with the values that were compared. */
export interface DecidedTerm {
  readonly operator: string;
  /** The left side: the values at a path, or the value of an expression. */
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
  /** Whether programs decide the rest of its conditions. */
  readonly asks: boolean;
  /** `version`: a newer version was chosen. Null when the rule matched. */
  readonly reason: 'condition' | 'ruleWhere' | 'version' | null;
  /** The term that decided; null where there was no condition. */
  readonly term: DecidedTerm | null;
}
