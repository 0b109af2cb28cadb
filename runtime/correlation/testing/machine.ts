// A machine for the trigger of a rule's text, fed with events as a test writes them.

import { compile, type CompiledRule } from '../../../compiler/index.ts';
import { builtinTable } from '../../../stdlib/builtins/index.ts';
import { encodeInner, fromInner } from '../../../stdlib/values/index.ts';
import { pureBuiltins } from '../../../resources/host-context.ts';
import { systemClock } from '../../../platform/clock/index.ts';
import { BindingsContext, Correlation, type MatchedEvent, type Outcome, EventValues } from '../index.ts';

export function compiledRule(text: string): CompiledRule {
  const compiled = compile(text, { builtins: builtinTable(), kind: 'rule' });
  if (!compiled.ok) throw new Error(compiled.diagnostics.map(({ message }) => message).join('\n'));
  return compiled.unit as CompiledRule;
}

export interface TestMachine {
  readonly machine: Correlation;
  readonly rule: CompiledRule;
  readonly errors: unknown[];
  full: number;
  /** An event on a topic. Gives what completed, each as the names of its events by the order of their places. */
  send(topic: string, name: string, atMs: number, value?: unknown): string[];
  /** The same for one that came before what has been restored. */
  replay: TestMachine['send'];
  /** The names of the events whose time-out is due. */
  expire(untilMs: number): string[];
}

/** @param trigger what stands between WHEN and the body */
export function machineOf(trigger: string, mostOpen = 1_000_000): TestMachine {
  const rule = compiledRule(`RULE r WHEN ${trigger} log.info("x")`);
  if (!rule.correlation) throw new Error('no correlation');
  const errors: unknown[] = [];
  const values = new EventValues();
  const context = new BindingsContext({ places: [], events: [] }, rule.triggers, values, 'main');
  const made = { full: 0 };
  const machine = new Correlation({
    spec: rule.correlation,
    triggers: rule.triggers,
    conditions: { typeOf: () => null, builtin: pureBuiltins(systemClock), namespace: 'main' },
    mostOpen,
    environment: {
      contextOf: (bindings) => {
        context.bindings = bindings;
        return context;
      },
      onError: (error) => errors.push(error),
      onFull: () => made.full++,
    },
  });
  const arrive = (isReplayed: boolean, topic: string, name: string, atMs: number, value: unknown = null): string[] => {
    const path = `/topics${topic}/publish`;
    const text = encodeInner(fromInner(value));
    const matched: MatchedEvent = { uuid: name, path, value: text, atMs, by: 'ann', chain: null };
    values.expect(matched);
    const places = rule.triggers.flatMap(({ paths }, i) => (paths.includes(path) ? [i] : []));
    return namesIn(machine.arrive(matched, places, isReplayed));
  };
  return {
    machine,
    rule,
    errors,
    get full() {
      return made.full;
    },
    send: (...event) => arrive(false, ...event),
    replay: (...event) => arrive(true, ...event),
    expire: (untilMs) => machine.expire(untilMs).timedOut.map(({ events }) => events.map(({ uuid }) => uuid).join('+')),
  };
}

const namesIn = ({ completed }: Outcome): string[] =>
  completed.map(({ bindings: { places, events } }) =>
    places
      .map((place, i) => [place, events[i]?.uuid ?? ''] as const)
      .sort(([a], [b]) => a - b)
      .map(([, name]) => name)
      .join('+'),
  );
