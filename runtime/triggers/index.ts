// The door of the triggers: which rules an event starts, and conditions over events for those who hold several of them.
export { TriggerIndex } from './trigger-index.ts';
export { conditionOf } from './condition.ts';
export { askedIn, withoutAsked } from './asked.ts';
export type {
  Chosen,
  ConditionEnvironment,
  DecidedTerm,
  Explanation,
  IndexedRule,
  EvaluationContext,
  TriggerIndexOptions,
  TriggerMatch,
} from './types.ts';
export { ANY, type Join, type JoinKey, joinOf } from './join.ts';
export { byVersionDescending } from './versions.ts';
