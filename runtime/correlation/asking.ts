// Events of rules whose conditions ask programs (language.md W4): the programs answer first, then the machine takes the event, so that the
// machine needs neither time nor store.

import type { CompiledRule, ConditionData, CorrelationSpec, TriggerSpec } from '../../compiler/index.ts';
import { ChildRunIds } from '../context/index.ts';
import { runIdOf, type StoredEvent } from '../transactions/index.ts';
import { type Given, holds, type RunHost } from '../runs/index.ts';
import type { Executable } from '../programs/index.ts';
import { askedIn } from '../triggers/index.ts';
import { eventObjectJson } from '../events/index.ts';
import { eventOf } from './bindings-context.ts';
import type { Answers, Bindings, MatchedEvent, Machine } from './types.ts';

/** Id prefix of the runs in which conditions ask programs. */
const CONDITIONS = 'conditions';

/** Whether a program has to be asked before the machine can take an event. */
export const asksPrograms = (triggers: readonly TriggerSpec[], { correlation }: CompiledRule): boolean =>
  [...triggers.map(({ condition }) => condition), ...constraintsOf(correlation)].some((one) => askedIn(one).length > 0);

const constraintsOf = (spec: number | CorrelationSpec | null): (ConditionData | null)[] =>
  spec === null || typeof spec === 'number' ? [] : [spec.constraint, ...constraintsOf(spec.left), ...constraintsOf(spec.right)];

export interface Arrival {
  readonly event: StoredEvent;
  readonly matched: MatchedEvent;
  /** The triggers whose conditions the event satisfies as far as the index can decide. */
  readonly places: readonly number[];
  readonly isReplayed: boolean;
}

/** What programs have decided about an arrival. */
export interface Decided {
  readonly places: readonly number[];
  readonly answers: Answers;
}

export interface AskingOptions {
  readonly runs: RunHost;
  readonly triggers: readonly TriggerSpec[];
  readonly variables: readonly string[];
  /** The rule's name among the runs of an event. */
  readonly reference: string;
  readonly rule: string;
  readonly machine: () => Machine;
  /** One of the versions, which all have the same conditions; null when none is left. */
  readonly program: () => Executable | null;
  /** Ends the programs that are asked. */
  readonly signal: AbortSignal;
}

export class Asking {
  readonly #options: AskingOptions;

  constructor(options: AskingOptions) {
    this.#options = options;
  }

  /** @throws errors outside the conditions; an error in a condition counts as false */
  async decide({ event, matched, places, isReplayed }: Arrival): Promise<Decided> {
    const { triggers, machine } = this.#options;
    const ask = this.#asker(event, matched);
    const satisfied: number[] = [];
    for (const place of places) {
      const condition = triggers[place]?.condition ?? null;
      const bindings = { places: [place], events: [matched] };
      if (askedIn(condition).length === 0 || (await ask(condition, bindings))) satisfied.push(place);
    }
    const answers = new Map<string, boolean>();
    // An answer about one pair may complete a part of the trigger, and so lead to the next question.
    const open = () => (satisfied.length > 0 ? (machine().questions?.(matched, satisfied, isReplayed, answers) ?? []) : []);
    for (let questions = open(); questions.length > 0; questions = open())
      for (const { key, condition, bindings } of questions) answers.set(key, await ask(condition, bindings));
    return { places: satisfied, answers };
  }

  #asker(event: StoredEvent, cause: MatchedEvent): (condition: ConditionData | null, bindings: Bindings) => Promise<boolean> {
    const { runs, triggers, variables, reference, rule, program, signal } = this.#options;
    const chain = cause.chain ?? { root: cause.uuid, depth: 0 };
    const caller = {
      chain: { ...chain, depth: chain.depth + 1 },
      childRunIds: new ChildRunIds(`${runIdOf(event, reference)}/${CONDITIONS}`),
      depth: 0,
      event: { event, rule },
      signal,
    };
    return async (condition, bindings) => {
      const executable = program();
      return (
        executable !== null &&
        holds(runs, executable, { triggers, condition }, givenBy(bindings, triggers, variables, runs.namespace), caller)
      );
    };
  }
}

/** The values of a rule's variables. */
export function givenBy(bindings: Bindings, triggers: readonly TriggerSpec[], variables: readonly string[], namespace: string): Given {
  const args: string[] = [];
  const events: number[] = [];
  for (const [i, variable] of variables.entries()) {
    const matched = eventOf(bindings, triggers, variable);
    const isEvent = triggers.find((trigger) => trigger.variable === variable)?.binds === 'event';
    if (matched && isEvent) events.push(i);
    args.push(matched ? (isEvent ? eventObjectJson(matched, matched.value, namespace) : matched.value) : 'null');
  }
  return { args, events };
}
