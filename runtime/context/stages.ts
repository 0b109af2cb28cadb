// Where an event and what its rules make of it are at, and since when: for figures of a rule. Nothing here is stored: the times are kept under a symbol,
// which no serialization takes, and an event that is read back from the store has none.
import type { StoredEvent } from '../transactions/index.ts';

/**
 * In the order in which they are usually reached. `run_ended` and `effect_committed` of a rule whose last statement is its effect are one commit;
 * `subscriber_told`: a subscriber was handed an event that the rule has raised.
 */
export const STAGES = ['accepted', 'committed', 'run_begun', 'run_ended', 'effect_committed', 'subscriber_told'] as const;
export type Stage = (typeof STAGES)[number];

/** Told of each stage that a rule's run has reached, and how long after the request of its event. */
export type StageReached = (rule: string, stage: Stage, ms: number) => void;

/** On the monotonic clock of this process. */
export interface Since {
  /** When the request came. */
  readonly fromMs: number;
  /** The rule whose run asks; null: a client or the service does. */
  readonly rule: string | null;
}

interface EventTimes {
  readonly fromMs: number;
  readonly acceptedMs: number;
  /** What has raised the event, where that was a rule with times of its own. */
  readonly cause: Since | null;
}

const TIMES = Symbol('times');
type Timed = StoredEvent & { [TIMES]?: EventTimes };

/** The event with its times: it was raised now. */
export function timed(event: StoredEvent, since: Since | undefined): StoredEvent {
  const now = performance.now();
  (event as Timed)[TIMES] =
    since === undefined || since.rule !== null
      ? { fromMs: now, acceptedMs: now, cause: since ?? null }
      : { fromMs: since.fromMs, acceptedMs: now, cause: null };
  return event;
}

/** From when on what the rule makes of the event is measured; undefined: its times are not known. */
export function sinceOf(event: StoredEvent, rule: string): Since | undefined {
  const times = (event as Timed)[TIMES];
  return times && { fromMs: times.fromMs, rule };
}

/** Tells of the events of a commit, for each of their rules. */
export function reportCommitted(events: readonly StoredEvent[], reached: StageReached): void {
  const now = performance.now();
  for (const event of events) {
    const times = (event as Timed)[TIMES];
    if (!times) continue;
    for (const { rule, places } of event.runs) {
      if (places) continue; // it waits for further events
      reached(rule, 'accepted', times.acceptedMs - times.fromMs);
      reached(rule, 'committed', now - times.fromMs);
    }
  }
}

/** Tells of events that subscribers were handed. */
export function reportDelivered(events: readonly StoredEvent[], reached: StageReached): void {
  const now = performance.now();
  for (const event of events) {
    const cause = (event as Timed)[TIMES]?.cause;
    if (cause?.rule) reached(cause.rule, 'subscriber_told', now - cause.fromMs);
  }
}
