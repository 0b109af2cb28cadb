// Measures the stages that an event and its rules reach, for a rule's metrics. Nothing is stored: the times are kept under a symbol, which
// no serialization includes, and an event that is read from the store has none.
import type { StoredEvent } from '../transactions/index.ts';

/**
 * In the order in which they are usually reached. `run_ended` and `effect_committed` of a rule whose last statement is its effect are one
 * commit; `subscriber_told`: a subscriber was handed an event that the rule has raised.
 */
export const STAGES = ['accepted', 'committed', 'run_begun', 'run_ended', 'effect_committed', 'subscriber_told'] as const;
export type Stage = (typeof STAGES)[number];

/** Called for each stage that a rule's run has reached, with the time since the request of its event. */
export type StageReached = (rule: string, stage: Stage, ms: number) => void;

/** Origin of a measurement, on the monotonic clock of this process. */
export interface Since {
  /** Time of the request. */
  readonly fromMs: number;
  /** The rule whose run made the request; null: a client or the service did. */
  readonly rule: string | null;
}

interface EventTimes {
  readonly fromMs: number;
  readonly acceptedMs: number;
  /** Origin of the event that caused this one, where a measured rule raised it. */
  readonly cause: Since | null;
}

const TIMES = Symbol('times');
type Timed = StoredEvent & { [TIMES]?: EventTimes };

/** Attaches the times to an event that was raised now. */
export function timed(event: StoredEvent, since: Since | undefined): StoredEvent {
  const now = performance.now();
  (event as Timed)[TIMES] =
    since === undefined || since.rule !== null
      ? { fromMs: now, acceptedMs: now, cause: since ?? null }
      : { fromMs: since.fromMs, acceptedMs: now, cause: null };
  return event;
}

/** Origin for what the rule does with the event; undefined: not measured. */
export function sinceOf(event: StoredEvent, rule: string): Since | undefined {
  const times = (event as Timed)[TIMES];
  return times && { fromMs: times.fromMs, rule };
}

/** Reports the stage `committed` for each rule of the events. */
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

/** Reports the stage `subscriber_told` for events that subscribers got. */
export function reportDelivered(events: readonly StoredEvent[], reached: StageReached): void {
  const now = performance.now();
  for (const event of events) {
    const cause = (event as Timed)[TIMES]?.cause;
    if (cause?.rule) reached(cause.rule, 'subscriber_told', now - cause.fromMs);
  }
}
