// Pure built-ins called by the host itself (aggregates, conditions of events): nothing of a run is at hand, and nothing is needed.

import { type BuiltinContext, lookup } from '../../stdlib/builtins/index.ts';
import { HOST_PATTERN_STEPS } from '../../stdlib/operators/index.ts';
import type { Clock } from '../clock/index.ts';
import type { Value } from '../../stdlib/values/index.ts';

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
  patternSteps: HOST_PATTERN_STEPS,
  slow: () => undefined, // bounded by the steps
  log: unavailable,
  logs: unavailable,
  warnOnce: () => undefined,
};

/** Built-ins in their plain form, for conditions of events: these may also ask what time it is. */
export function pureBuiltins(clock: Clock): (name: string) => ((...args: Value[]) => Value) | undefined {
  const context: BuiltinContext = { ...HOST_CONTEXT, now: () => clock.now() };
  return (name) => {
    const builtin = lookup(name);
    return builtin && ((...args) => builtin.call(context, args));
  };
}
