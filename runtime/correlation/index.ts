// The door of the correlation: rules that wait for more than one event, or for one that does not come (language.md 6.3).
export { Correlations } from './correlations.ts';
export { Correlation } from './correlation.ts';
export { type CorrelatedRule, type CorrelationHost, isCorrelated } from './version-group.ts';
export { EVALUATION_TEXTS, EVALUATIONS } from './evaluation-store.ts';
export { BindingsContext, EventValues } from './bindings-context.ts';
export type { Bindings, Evaluation, MatchedEvent, Machine, MachineContext, Outcome } from './types.ts';
