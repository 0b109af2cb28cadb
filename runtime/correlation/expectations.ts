// EXPECT as machines (language.md 6.3): WITHIN waits after each event for the next, EVERY looks at intervals on a grid from the activation.

import { type Evaluation, type MatchedEvent, type Machine, NOTHING, type Outcome } from './types.ts';

/** The last event waits for the next one. */
export class ExpectWithin implements Machine {
  readonly #withinMs: number;
  #last: Evaluation | null = null;
  #order = 0;

  constructor(withinMs: number) {
    this.#withinMs = withinMs;
  }

  get open(): number {
    return this.#last ? 1 : 0;
  }

  get nextDueMs(): number | null {
    return this.#last?.deadlineMs ?? null;
  }

  begin(): Outcome {
    return NOTHING;
  }

  arrive(matched: MatchedEvent, places: readonly number[]): Outcome {
    // The time of the last event may have ended before anybody looked: while the service was away, or busy.
    const isLate = this.#last !== null && this.#last.deadlineMs < matched.atMs;
    const ended = this.#close();
    this.#last = {
      order: ++this.#order,
      node: 0,
      began: 'left',
      deadlineMs: matched.atMs + this.#withinMs,
      places: places.slice(0, 1),
      events: [matched],
      isOpen: true,
      storedIn: 'nowhere',
    };
    return { ...NOTHING, opened: [this.#last], ...(isLate ? { timedOut: ended } : { closed: ended }) };
  }

  expire(untilMs: number): Outcome {
    if (!this.#last || this.#last.deadlineMs > untilMs) return NOTHING;
    return { ...NOTHING, timedOut: this.#close() };
  }

  restore(evaluation: Evaluation): void {
    this.#last = { ...evaluation };
    this.#order = evaluation.order;
  }

  *evaluations(): Iterable<Evaluation> {
    if (this.#last) yield this.#last;
  }

  #close(): Evaluation[] {
    if (!this.#last) return [];
    const last = this.#last;
    last.isOpen = false;
    this.#last = null;
    return [last];
  }
}

const INTERVAL = 0;
const SEEN = 1;

/**
 * One evaluation is where the grid of the intervals begins, the others mark intervals in which an event came. The grid is kept anew only
 * with a time-out, and the mark of an interval until the next one has ended: so an interval with events costs no write of its own, and a
 * restart knows whether the last one had any. Intervals that ended while the service was away count as one.
 */
export class ExpectEvery implements Machine {
  readonly #everyMs: number;
  #interval: Evaluation | null = null;
  /** When the present interval ends. */
  #endMs: number | null = null;
  readonly #seen = new Map<number, Evaluation>();
  #order = 0;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  get open(): number {
    return this.#seen.size + (this.#interval ? 1 : 0);
  }

  get nextDueMs(): number | null {
    return this.#endMs;
  }

  begin(nowMs: number): Outcome {
    this.#interval = this.#made(INTERVAL, nowMs + this.#everyMs, [], []);
    this.#endMs = this.#interval.deadlineMs;
    return { ...NOTHING, opened: [this.#interval] };
  }

  arrive(matched: MatchedEvent, places: readonly number[]): Outcome {
    if (!this.#interval) return NOTHING;
    const endMs = this.#endAfter(matched.atMs);
    if (this.#seen.has(endMs)) return NOTHING;
    const seen = this.#made(SEEN, endMs, places.slice(0, 1), [matched]);
    this.#seen.set(endMs, seen);
    return { ...NOTHING, opened: [seen] };
  }

  expire(untilMs: number): Outcome {
    const ended = this.#interval;
    if (!ended || this.#endMs === null || this.#endMs > untilMs) return NOTHING;
    const nextMs = this.#endAfter(untilMs + 1);
    const lastMs = nextMs - this.#everyMs;
    const wasSeen = this.#seen.has(lastMs);
    const closed: Evaluation[] = [];
    for (const [endMs, seen] of this.#seen)
      if (endMs < lastMs) {
        this.#seen.delete(endMs);
        closed.push(seen);
      }
    for (const seen of closed) seen.isOpen = false;
    this.#endMs = nextMs;
    if (wasSeen) return { ...NOTHING, closed };
    ended.isOpen = false;
    this.#interval = this.#made(INTERVAL, nextMs, [], []);
    return { ...NOTHING, opened: [this.#interval], closed, timedOut: [ended] };
  }

  restore(evaluation: Evaluation): void {
    this.#order = Math.max(this.#order, evaluation.order);
    if (evaluation.node === INTERVAL) {
      this.#interval = { ...evaluation };
      this.#endMs = evaluation.deadlineMs;
    } else this.#seen.set(evaluation.deadlineMs, { ...evaluation });
  }

  *evaluations(): Iterable<Evaluation> {
    if (this.#interval) yield this.#interval;
    yield* this.#seen.values();
  }

  /** The end of the interval that a time is in, an end belonging to the interval that it ends. */
  #endAfter(timeMs: number): number {
    const endMs = this.#endMs ?? timeMs;
    return timeMs <= endMs ? endMs : endMs + Math.ceil((timeMs - endMs) / this.#everyMs) * this.#everyMs;
  }

  #made(node: number, deadlineMs: number, places: readonly number[], events: readonly MatchedEvent[]): Evaluation {
    return { order: ++this.#order, node, began: 'left', deadlineMs, places, events, isOpen: true, storedIn: 'nowhere' };
  }
}
