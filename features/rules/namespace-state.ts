// The rule graph of a namespace.
import { StateKey } from '../../resources/states.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import type { RuleGraph } from './rule-graph.ts';

export const RULE_GRAPH = new StateKey<RuleGraph>('rules');
export const ruleGraphOf = (space: Pick<Namespace, 'states'>): RuleGraph => space.states.get(RULE_GRAPH);
