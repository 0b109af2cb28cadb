// The door of rules.
export { abandonLost, abandonTooDeep } from './abandoned-runs.ts';
export { ConditionFailures } from './condition-failures.ts';
export { rules } from './feature.ts';
export { RULE_GRAPH } from './namespace-state.ts';
export { RuleGraph } from './rule-graph.ts';
export { RULES, loadRule } from './rules-kind.ts';
