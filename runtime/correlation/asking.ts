// Events of rules whose conditions ask programs (language.md W4): first what they ask is told, then the machine takes the event, so that it
// stays without time and store.

import type { CompiledRule, ConditionData, CorrelationSpec, TriggerSpec } from '../../compiler/index.ts';
import { ChildRunIds } from '../context/actor.ts';
import { runIdOf, type StoredEvent } from '../transactions/index.ts';
import { type Given, holds, type RunHost } from '../runs/index.ts';
import type { Executable } from '../programs/executable.ts';
import { askedIn } from '../triggers/index.ts';
import { eventObjectJson } from '../events/event-object.ts';
import { eventOf } from './bindings-context.ts';
import type { Answers, Bindings, MatchedEvent, Machine } from './types.ts';

/** Under which the runs stand that conditions ask for. */
const CONDITIONS = 'conditions';

/** Whether events cannot be taken before a program has been asked. */
export const asksPrograms = (triggers: readonly TriggerSpec[], { correlation }: CompiledRule): boolean =>
  [...triggers.map(({ condition }) => condition), ...constraintsOf(correlation)].some((one) => askedIn(one).length > 0);

const constraintsOf = (spec: number | CorrelationSpec | null): (ConditionData | null)[] =>
  spec === null || typeof spec === 'number' ? [] : [spec.constraint, ...constraintsOf(spec.left), ...constraintsOf(spec.right)];

interface Arrival {
  readonly event: StoredEvent;
  readonly matched: MatchedEvent;
  /** The triggers whose conditions it satisfies as far as the index can tell. */
  readonly places: readonly number[];
  readonly isReplayed: boolean;
}

/** What has been told of an arrival. */
interface Decided {
  readonly places: readonly number[];
  readonly answers: Answers;
}

export interface AskingOptions {
  readonly runs: RunHost;
  readonly triggers: readonly TriggerSpec[];
  readonly variables: readonly string[];
  /** What stands for the rule among the runs of an event. */
  readonly reference: string;
  readonly rule: string;
  readonly machine: () => Machine;
  /** One of the versions, which all ask the same; null when there is none any more. */
  readonly program: () => Executable | null;
}

export class Asking {
  readonly #options: AskingOptions;

  constructor(options: AskingOptions) {
    this.#options = options;
  }

  /** @throws what has nothing to do with the conditions; an error in one counts as false */
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
    // What is told of one pair may lead to another: a part of the trigger is complete then.
    const open = () => (satisfied.length > 0 ? (machine().questions?.(matched, satisfied, isReplayed, answers) ?? []) : []);
    for (let questions = open(); questions.length > 0; questions = open())
      for (const { key, condition, bindings } of questions) answers.set(key, await ask(condition, bindings));
    return { places: satisfied, answers };
  }

  #asker(event: StoredEvent, cause: MatchedEvent): (condition: ConditionData | null, bindings: Bindings) => Promise<boolean> {
    const { runs, triggers, variables, reference, rule, program } = this.#options;
    const chain = cause.chain ?? { root: cause.uuid, depth: 0 };
    const caller = {
      chain: { ...chain, depth: chain.depth + 1 },
      childRunIds: new ChildRunIds(`${runIdOf(event, reference)}/${CONDITIONS}`),
      depth: 0,
      event: { event, rule },
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

/** What the variables of a rule hold. */
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
