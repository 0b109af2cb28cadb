// The door of the correlation: rules that wait for more than one event, or for one that does not come (language.md 6.3).
export { Correlations } from './correlations.ts';
export { Correlation } from './correlation.ts';
export { type CorrelatedRule, type CorrelationHost, isCorrelated } from './family.ts';
export { EVALUATION_TEXTS, EVALUATIONS } from './kept.ts';
export { BoundSurrounding, Values } from './surroundings.ts';
export type { Bound, Evaluation, Happening, Machine, MachineSurroundings, Outcome } from './types.ts';
