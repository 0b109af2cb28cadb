// Decides whether a rule runs where programs decide a part of its conditions (language.md W4): each deferred call is a run of its own, and
// the conditions are then evaluated with the results.

import { decodeInner, encodeInner, type ObjectValue, type Value } from '../../stdlib/values/index.ts';
import type { RunReference, Undecided } from '../transactions/index.ts';
import { dataOf, BudgetExceeded, withAnswers, type DeferredCall } from '../../model/query/index.ts';
import { CascadeError } from '../../model/errors/index.ts';
import { askedIn, conditionOf, type EvaluationContext } from '../triggers/index.ts';
import { type DirectCall, runDirect } from './direct-run.ts';
import type { RunHost } from './types.ts';
import type { Executable } from '../programs/index.ts';

/** The values of a rule's variables: inner JSON, in order. */
export interface Given {
  readonly args: readonly string[];
  /** Indexes of the event objects (without `newValue`). */
  readonly events: number[];
}

/**
 * Chooses the first version that runs; null when none does. An error in a condition counts as false, and is recorded.
 * @param caller context of the deferred calls
 */
export async function choose(host: RunHost, first: RunReference, given: Given, caller: DirectCall['caller']): Promise<RunReference | null> {
  const known = new Map<string, Value>();
  for (let one: RunReference | null = first; one; one = one.asks?.next ?? null) {
    if (!one.asks) return one;
    const executable = host.executable(one.rule, one.program);
    if (executable && (await holds(host, executable, one.asks, given, caller, known))) return one.asks.runsNothing ? null : one;
  }
  return null;
}

/** @param known results of deferred calls so far, by the text of the call */
export async function holds(
  host: RunHost,
  executable: Executable,
  { triggers, condition }: Pick<Undecided, 'triggers' | 'condition'>,
  given: Given,
  caller: DirectCall['caller'],
  known = new Map<string, Value>(),
): Promise<boolean> {
  try {
    for (const { n, text } of askedIn(condition))
      if (!known.has(text)) known.set(text, decodeInner(await runDirect(host, question(host, executable, n, given, caller))));
  } catch (error) {
    if (error instanceof CascadeError) return false; // the failed run has recorded it
    throw error;
  }
  if (condition === null) return true;
  const context = new GivenContext(triggers, given, known);
  for (;;)
    try {
      return withAnswers(known, () => conditionOf(condition, triggers, host.conditions)(context));
    } catch (error) {
      if (!(error instanceof BudgetExceeded) || error.key === null) return failed(host, executable, error);
      try {
        known.set(error.key, decodeInner(await runDirect(host, heavy(host, executable, error.call, caller))));
      } catch (reason) {
        if (reason instanceof CascadeError) return false; // the failed run has recorded it
        throw reason;
      }
    }
}

function failed(host: RunHost, { name }: Executable, error: unknown): boolean {
  host.conditionFailed(name, error);
  return false;
}

/** A deferred call: it would take too long in the service's own process. */
const heavy = (
  host: RunHost,
  { resource, name, service, identity }: Executable,
  work: DeferredCall,
  caller: DirectCall['caller'],
): DirectCall => ({
  executable: { resource, name, service },
  body: { program: host.programFor(work) },
  argsJson: encodeInner(dataOf(work)),
  identity,
  caller,
  snapshot: 'always',
});

/** Within the service whose event the rule handles, as its body is (language.md Y8). */
const question = (host: RunHost, executable: Executable, n: number, { args, events }: Given, caller: DirectCall['caller']): DirectCall => ({
  executable: caller.event ? { ...executable, service: host.serviceOf(caller.event.event, executable) } : executable,
  body: { program: executable.program, entry: `asked${n}` },
  argsJson: `[${args.join(',')}]`,
  eventArgs: events,
  identity: executable.identity,
  caller,
  snapshot: 'always',
});

/** The values of a rule's variables, as conditions read them. */
export class GivenContext implements EvaluationContext {
  readonly asked: ReadonlyMap<string, Value>;
  readonly #variables: readonly string[];
  readonly #given: Given;
  readonly #values = new Map<string, Value>();

  constructor(triggers: Undecided['triggers'], given: Given, asked: ReadonlyMap<string, Value> = new Map()) {
    this.#variables = [...new Set(triggers.map(({ variable }) => variable))];
    this.#given = given;
    this.asked = asked;
  }

  payload(variable: string): Value {
    const held = this.#held(variable);
    return this.#isEvent(variable) ? ((held as ObjectValue)['value'] ?? null) : held;
  }

  event(variable: string): ObjectValue {
    if (!this.#isEvent(variable)) return {};
    const event = this.#held(variable) as ObjectValue;
    return { ...event, newValue: event['value'] ?? null };
  }

  #isEvent = (variable: string): boolean => this.#given.events.includes(this.#variables.indexOf(variable));

  #held(variable: string): Value {
    const known = this.#values.get(variable);
    if (known !== undefined) return known;
    const value = decodeInner(this.#given.args[this.#variables.indexOf(variable)] ?? 'null');
    this.#values.set(variable, value);
    return value;
  }
}
