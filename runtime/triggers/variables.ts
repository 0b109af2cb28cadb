// The variables of a condition over the events of several triggers.
import type { TriggerSpec } from '../../compiler/types.ts';
import { typeAt } from './evaluation-context.ts';
import type { Variables } from './terms.ts';
import type { ConditionEnvironment } from './types.ts';

/** The variables; one that is bound on several types has no declared type. */
export function variablesOf(triggers: readonly TriggerSpec[], outside: ConditionEnvironment): Variables {
  const bound = new Map<string, Set<ReturnType<typeof typeAt>>>();
  for (const { variable, paths } of triggers) {
    const types = bound.get(variable) ?? new Set();
    bound.set(variable, types);
    for (const path of paths) types.add(typeAt(path, outside));
  }
  return new Map(
    triggers.map(({ variable, binds }) => {
      const types = bound.get(variable);
      return [variable, { binds, type: types?.size === 1 ? ([...types][0] ?? null) : null }];
    }),
  );
}
