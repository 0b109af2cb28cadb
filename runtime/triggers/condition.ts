// A condition over several events: CONSTRAIN TO of a correlation, and RULE WHERE when it completes (language.md 6.3, 6.4 V8).
import type { ConditionData, TriggerSpec } from '../../compiler/types.ts';
import { holds } from './compare-term.ts';
import { compileCondition } from './terms.ts';
import type { ConditionEnvironment, EvaluationContext } from './types.ts';
import { variablesOf } from './variables.ts';

/**
 * @param triggers whose variables the condition may use; one on several types has the declared type of none
 * @returns a test that throws what the condition raises: the caller counts that as false and records it
 */
export function conditionOf(
  data: ConditionData,
  triggers: readonly TriggerSpec[],
  outside: ConditionEnvironment,
): (context: EvaluationContext) => boolean {
  const variables = variablesOf(triggers, outside);
  const condition = compileCondition(data, variables, outside);
  return (context) => holds(condition, context);
}
