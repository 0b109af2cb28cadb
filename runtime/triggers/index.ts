// The door of the triggers: which rules an event starts, and conditions over events for those who hold several of them.
export { TriggerIndex } from './trigger-index.ts';
export { conditionOf } from './condition.ts';
export type { DecidedTerm, Explanation, IndexedRule, Surrounding, TriggerIndexOptions, TriggerMatch } from './types.ts';
