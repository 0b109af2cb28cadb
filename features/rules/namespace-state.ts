// Which rules of a namespace set which others going.
import { StateKey } from '../../resources/states.ts';
import type { Namespace } from '../../resources/catalog/types.ts';
import type { RuleLinks } from './loops.ts';

export const RULE_LINKS = new StateKey<RuleLinks>('rules');
export const ruleLinksOf = (space: Pick<Namespace, 'states'>): RuleLinks => space.states.get(RULE_LINKS);
