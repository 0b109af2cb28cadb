// The context of pure built-ins that the host itself calls (aggregates, conditions of events): there is no run, and they need none.

import { type BuiltinContext, lookup } from '../stdlib/builtins/index.ts';
import type { Clock } from '../platform/clock/index.ts';
import { withinBudget, hostBounds } from '../model/query/index.ts';
import { deepCopyCounted, type Value } from '../stdlib/values/index.ts';

const unavailable = (): never => {
  throw new TypeError('a pure built-in asked for something of a run');
};

export const HOST_CONTEXT: BuiltinContext = {
  now: unavailable,
  random: unavailable,
  uuid: unavailable,
  sequence: unavailable,
  merge: unavailable,
  charge: () => undefined, // the limits of the request bound it
  patternSteps: hostBounds.patternSteps,
  spend: () => undefined, // as above
  log: unavailable,
  logs: unavailable,
  warnOnce: () => undefined,
};

/** Built-ins for conditions of events, which may also read the clock. A call that takes too long throws BudgetExceeded. */
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
