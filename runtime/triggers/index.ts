// The door of triggers/: the index that finds the rules of an event, and conditions over several events.
export { TriggerIndex } from './trigger-index.ts';
export { conditionOf } from './condition.ts';
export { compileExpression } from './expressions.ts';
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
export { type Join, joinOf } from './join.ts';
export { ANY, type JoinKey } from './keys.ts';
export { byVersionDescending } from './versions.ts';
