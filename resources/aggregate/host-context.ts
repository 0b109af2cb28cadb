// Pure built-ins called by the host itself (aggregates, conditions of events): nothing of a run is at hand, and nothing is needed.

import { type BuiltinContext, lookup } from '../../stdlib/builtins/index.ts';
import type { Clock } from '../../platform/clock/index.ts';
import { withinBudget, hostBounds } from '../../model/query/index.ts';
import { deepCopyCounted, type Value } from '../../stdlib/values/index.ts';

const unavailable = (): never => {
  throw new TypeError('a pure built-in asked for something of a run');
};

export const HOST_CONTEXT: BuiltinContext = {
  now: unavailable,
  random: unavailable,
  uuid: unavailable,
  sequence: unavailable,
  merge: unavailable,
  charge: () => undefined, // bounded by what a request may read
  patternSteps: hostBounds.patternSteps,
  spend: () => undefined, // likewise
  log: unavailable,
  logs: unavailable,
  warnOnce: () => undefined,
};

/** Built-ins in their plain form, for conditions of events: these may also ask what time it is. What takes too long is {BudgetExceeded}. */
export function pureBuiltins(clock: Clock): (name: string) => ((...args: Value[]) => Value) | undefined {
  const context: BuiltinContext = { ...HOST_CONTEXT, ...hostBounds, now: () => clock.now() };
  return (name) => {
    const builtin = lookup(name);
    if (!builtin) return undefined;
    const mutates = builtin.overloads.some((overload) => overload.mutates);
    return (...args) =>
      withinBudget({ builtin: name, args }, () =>
        builtin.call(context, mutates ? args.map((arg) => deepCopyCounted(arg, context.charge)) : args),
      );
  };
}
