// Advice: what compiles and is surely a mistake. Nothing here refuses a text, and a stored resource is not told of it: `cascade check` asks.
import type { Statement } from '../ast.ts';
import type { Model, Report } from '../2-check/index.ts';
import { adviseConditions } from './conditions.ts';
import { adviseReachability } from './reachability.ts';
import { adviseVariables } from './variables.ts';

/** Warns of conditions that are decided already, statements never reached, variables and assignments never read. */
export function advise(model: Model, report: Report): void {
  const { definition } = model;
  const isBefore = definition.type === 'Rule' && definition.trigger.type === 'Before';
  const bodies: (readonly [readonly Statement[], 'main' | 'timeout'])[] = [[definition.body, 'main']];
  if (definition.type === 'Rule' && definition.timeout) bodies.push([definition.timeout, 'timeout']);
  for (const [body, section] of bodies) {
    adviseConditions(body, report);
    adviseReachability(body, model.calls, report);
    adviseVariables(body, {
      uses: model.uses[section],
      state: model.state,
      // A procedure's value is that of its last statement, a BEFORE rule's only that of a last RETURN (language.md C5, O2, G9).
      hasValue: definition.type === 'Procedure',
      kept: new Set(isBefore ? model.rule?.variables : []),
      report,
    });
  }
}
