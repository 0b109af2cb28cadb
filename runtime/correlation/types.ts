// The types of correlation: matched events, evaluations that wait for more of them, and outcomes (language.md 6.3).

import type { ConditionData } from '../../compiler/index.ts';
import type { StoredEvent } from '../transactions/index.ts';
import type { EvaluationContext } from '../triggers/index.ts';

/** What is kept of an event while the rule waits for others. */
export interface MatchedEvent {
  readonly uuid: string;
  readonly path: string;
  /** The value as inner JSON text. */
  readonly value: string;
  /** Its arrival, milliseconds since the epoch. */
  readonly atMs: number;
  readonly by: string;
  /** Null: the event began its chain. */
  readonly chain: StoredEvent['chain'] | null;
  /** Of messages only (integrations.md 1.7). */
  readonly transport?: StoredEvent['transport'];
}

/** Events in the places of a trigger: `events[i]` is bound by the trigger `places[i]`. */
export interface Bindings {
  readonly places: readonly number[];
  readonly events: readonly MatchedEvent[];
}

/** Which child of its node an evaluation began with. 'either': the one event may stand in either place. */
export type Began = 'left' | 'right' | 'either';

/** One attempt to complete a trigger. */
export interface Evaluation extends Bindings {
  /** Sequence number within a rule: the oldest evaluation has the lowest. */
  readonly order: number;
  /** The node of the trigger's tree that it is to complete. */
  readonly node: number;
  readonly began: Began;
  /** An event that arrives later does not complete it. */
  readonly deadlineMs: number;
  isOpen: boolean;
  /**
   * Where a restart finds it: in the journal, as long as the run of its (only) event is open there, or in the store. Nowhere: it has
   * just been opened.
   */
  storedIn: 'nowhere' | 'journal' | 'store';
}

export interface Outcome {
  readonly opened: readonly Evaluation[];
  /** Closed besides those below: parts that are complete or whose time is over, what was overtaken, one too many. */
  readonly closed: readonly Evaluation[];
  /** The trigger is complete, once for each, in this order. */
  readonly completed: readonly { readonly evaluation: Evaluation; readonly bindings: Bindings }[];
  /** Their time is over, and the TIMEOUT section is due. */
  readonly timedOut: readonly Evaluation[];
  /**
   * The closed parts that go over into one that is opened or completed: stored with it, or a restart would lack both or have them twice.
   */
  readonly parts?: ReadonlyMap<Evaluation, readonly Evaluation[]>;
}

/** Whether events belong together, where a program decides that. */
export interface Question {
  readonly key: string;
  readonly condition: ConditionData;
  readonly bindings: Bindings;
}
/** By the keys of the questions. */
export type Answers = ReadonlyMap<string, boolean>;

/** Decides what events mean for the trigger of one rule. No clock, no store: time comes in as data, what to do goes out as data. */
export interface Machine {
  /**
   * An event in the order of arrivals.
   * @param places the triggers whose WHERE it satisfies
   * @param isReplayed it arrived before the service ended: what was restored may be younger, and is then nothing to it
   */
  arrive(matched: MatchedEvent, places: readonly number[], isReplayed?: boolean, answers?: Answers): Outcome;
  /** What programs have to tell before the event arrives, as far as that can be said with these answers; nothing changes. */
  questions?(matched: MatchedEvent, places: readonly number[], isReplayed: boolean, answers: Answers): readonly Question[];
  /** Closes what was due until then. */
  expire(untilMs: number): Outcome;
  /** When `expire` has something to do; null while nothing is open. */
  readonly nextDueMs: number | null;
  readonly open: number;
  /** The rule comes into force, and nothing was restored. */
  begin(nowMs: number): Outcome;
  /** Takes an evaluation back that was open when the service ended; the oldest first. */
  restore(evaluation: Evaluation): void;
  /** Everything that is open. */
  evaluations(): Iterable<Evaluation>;
}

export interface MachineContext {
  /** The events of these places, as conditions see them. It is good until the next one is asked for. */
  contextOf(bindings: Bindings): EvaluationContext;
  /** An error in CONSTRAIN TO, which counts as false (language.md K7). */
  onError(error: unknown): void;
  /** More evaluations were open than the rule may have: the oldest is closed (K10). */
  onFull(): void;
}

/** @param paths spellings of the path that are kept already */
export function toMatchedEvent({ uuid, path, value, at, by, chain, transport }: StoredEvent, paths: readonly string[] = []): MatchedEvent {
  const known = paths.find((one) => one === path) ?? path;
  const began = chain.root === uuid && chain.depth === 0 && chain.hop === undefined && chain.ends === undefined;
  return { uuid, path: known, value, atMs: at.getTime(), by, chain: began ? null : chain, ...(transport ? { transport } : {}) };
}

export const NOTHING: Outcome = { opened: [], closed: [], completed: [], timedOut: [] };
