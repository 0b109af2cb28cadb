// A condition over several events: CONSTRAIN TO of a correlation, and RULE WHERE when it completes (language.md 6.3, 6.4 V8).
import type { ConditionData, TriggerSpec } from '../../compiler/types.ts';
import { holds } from './compare-term.ts';
import { compileCondition } from './terms.ts';
import type { ConditionEnvironment, EvaluationContext } from './types.ts';
import { variablesOf } from './variables.ts';

/**
 * @param triggers whose variables the condition may use; a trigger on several types has no declared type
 * @returns a test that throws errors of the condition: the caller counts these as false and records them
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
