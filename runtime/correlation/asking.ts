// Events of rules whose conditions ask programs (language.md W4): first what they ask is told, then the machine takes the event, so that it
// stays without time and store.

import type { CompiledRule, ConditionData, CorrelationSpec, TriggerSpec } from '../../compiler/index.ts';
import { ChildKeys } from '../context/actor.ts';
import { runIdOf, type StoredEvent } from '../transactions/index.ts';
import { type Executable, type Given, holds, type RunHost } from '../runs/index.ts';
import { askedIn } from '../triggers/index.ts';
import { eventObjectJson } from '../events/event-object.ts';
import { happeningOf } from './surroundings.ts';
import type { Answers, Bound, Happening, Machine } from './types.ts';

/** Under which the runs stand that conditions ask for. */
const CONDITIONS = 'conditions';

/** Whether events cannot be taken before a program has been asked. */
export const asksPrograms = (triggers: readonly TriggerSpec[], { correlation }: CompiledRule): boolean =>
  [...triggers.map(({ condition }) => condition), ...constraintsOf(correlation)].some((one) => askedIn(one).length > 0);

const constraintsOf = (spec: number | CorrelationSpec | null): (ConditionData | null)[] =>
  spec === null || typeof spec === 'number' ? [] : [spec.constraint, ...constraintsOf(spec.left), ...constraintsOf(spec.right)];

interface Arrival {
  readonly event: StoredEvent;
  readonly happening: Happening;
  /** The triggers whose conditions it satisfies as far as the index can tell. */
  readonly places: readonly number[];
  readonly isReplayed: boolean;
}

/** What has been told of an arrival. */
interface Told {
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
  async tell({ event, happening, places, isReplayed }: Arrival): Promise<Told> {
    const { triggers, machine } = this.#options;
    const ask = this.#asker(event, happening);
    const satisfied: number[] = [];
    for (const place of places) {
      const condition = triggers[place]?.condition ?? null;
      const bound = { places: [place], happenings: [happening] };
      if (askedIn(condition).length === 0 || (await ask(condition, bound))) satisfied.push(place);
    }
    const answers = new Map<string, boolean>();
    // What is told of one pair may lead to another: a part of the trigger is complete then.
    const open = () => (satisfied.length > 0 ? (machine().questions?.(happening, satisfied, isReplayed, answers) ?? []) : []);
    for (let questions = open(); questions.length > 0; questions = open())
      for (const { key, condition, bound } of questions) answers.set(key, await ask(condition, bound));
    return { places: satisfied, answers };
  }

  #asker(event: StoredEvent, cause: Happening): (condition: ConditionData | null, bound: Bound) => Promise<boolean> {
    const { runs, triggers, variables, reference, rule, program } = this.#options;
    const chain = cause.chain ?? { root: cause.uuid, depth: 0 };
    const caller = {
      chain: { ...chain, depth: chain.depth + 1 },
      childKey: new ChildKeys(`${runIdOf(event, reference)}/${CONDITIONS}`),
      depth: 0,
      event: { event, rule },
    };
    return async (condition, bound) => {
      const executable = program();
      return (
        executable !== null && holds(runs, executable, { triggers, condition }, givenBy(bound, triggers, variables, runs.namespace), caller)
      );
    };
  }
}

/** What the variables of a rule hold. */
export function givenBy(bound: Bound, triggers: readonly TriggerSpec[], variables: readonly string[], namespace: string): Given {
  const args: string[] = [];
  const events: number[] = [];
  for (const [i, variable] of variables.entries()) {
    const happening = happeningOf(bound, triggers, variable);
    const isEvent = triggers.find((trigger) => trigger.variable === variable)?.binds === 'event';
    if (happening && isEvent) events.push(i);
    args.push(happening ? (isEvent ? eventObjectJson(happening, happening.value, namespace) : happening.value) : 'null');
  }
  return { args, events };
}
