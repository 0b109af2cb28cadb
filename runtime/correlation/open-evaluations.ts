// The open evaluations of one node of a trigger, indexed by the key that they wait for and by deadline. The costs do not grow with their
// number.

import { ANY, type JoinKey } from '../triggers/index.ts';
import type { Began, Evaluation, MatchedEvent } from './types.ts';

/** An evaluation with its links in these indexes. */
export class OpenEvaluation implements Evaluation {
  readonly order: number;
  readonly node: number;
  readonly began: Began;
  readonly places: readonly number[];
  /** Mostly one event, which needs no array: a million may be open. */
  readonly #held: MatchedEvent | readonly MatchedEvent[];
  /** Time from its last event to its deadline. */
  readonly #leftMs: number;
  isOpen = true;
  /** Whether its key is all that the condition compares. */
  isExact = false;
  storedIn: Evaluation['storedIn'];
  /** The key that it waits for. */
  key: JoinKey = ANY;
  /** Of an evaluation that may stand in either place: the key for the left side. */
  otherKey: JoinKey | null = null;
  previousDue: OpenEvaluation | null = null;
  nextDue: OpenEvaluation | null = null;

  constructor({ order, node, began, deadlineMs, places, events, storedIn }: Omit<Evaluation, 'isOpen'>) {
    this.order = order;
    this.node = node;
    this.began = began;
    this.places = places;
    const [only] = events;
    this.#held = events.length === 1 && only ? only : events;
    this.#leftMs = deadlineMs - (events.at(-1)?.atMs ?? 0);
    this.storedIn = storedIn;
  }

  get events(): readonly MatchedEvent[] {
    return isOne(this.#held) ? [this.#held] : this.#held;
  }

  /** The event, where there is only one. */
  get only(): MatchedEvent | null {
    return isOne(this.#held) ? this.#held : null;
  }

  has(uuid: string): boolean {
    if (isOne(this.#held)) return this.#held.uuid === uuid;
    for (const one of this.#held) if (one.uuid === uuid) return true;
    return false;
  }

  /** Arrival of its last event. */
  get lastMs(): number {
    return (isOne(this.#held) ? this.#held : this.#held.at(-1))?.atMs ?? 0;
  }

  get deadlineMs(): number {
    return this.lastMs + this.#leftMs;
  }
}

const isOne = (held: MatchedEvent | readonly MatchedEvent[]): held is MatchedEvent => !Array.isArray(held);

/** Several evaluations with one key, oldest first; closed ones are removed when there are many. */
class Bucket {
  #items: OpenEvaluation[];
  #head = 0;
  live = 2;

  constructor(first: OpenEvaluation, second: OpenEvaluation) {
    this.#items = [first, second];
  }

  add(evaluation: OpenEvaluation): void {
    this.live++;
    this.#items.push(evaluation);
  }

  forget(): void {
    this.live--;
    while (this.#head < this.#items.length && !this.#items[this.#head]?.isOpen) this.#head++;
    const held = this.#items.length - this.#head;
    if ((held > 8 && this.live * 2 < held) || (this.#head > 1_000 && this.#head * 2 > this.#items.length)) this.#tidy();
  }

  open(): readonly OpenEvaluation[] {
    if (this.live < this.#items.length) this.#tidy();
    return this.#items;
  }

  #tidy(): void {
    this.#items = this.#items.filter(({ isOpen }) => isOpen);
    this.#head = 0;
  }
}

const NONE: readonly OpenEvaluation[] = [];
const byAge = (a: OpenEvaluation, b: OpenEvaluation): number => a.order - b.order;

/** Evaluations that wait for one side of the node, by the key that the side's event must have. Most keys have one. */
export class SideIndex {
  readonly #byKey = new Map<JoinKey, OpenEvaluation | Bucket>();

  add(evaluation: OpenEvaluation, key: JoinKey): void {
    const found = this.#byKey.get(key);
    if (found === undefined) this.#byKey.set(key, evaluation);
    else if (found instanceof Bucket) found.add(evaluation);
    else this.#byKey.set(key, new Bucket(found, evaluation));
  }

  /** Called when an evaluation with that key is closed. */
  remove(evaluation: OpenEvaluation, key: JoinKey): void {
    const found = this.#byKey.get(key);
    if (found instanceof Bucket) {
      found.forget();
      if (found.live === 0) this.#byKey.delete(key);
    } else if (found === evaluation) this.#byKey.delete(key);
  }

  get isEmpty(): boolean {
    return this.#byKey.size === 0;
  }

  /** A copy of the evaluations that an event with this key may complete, oldest first. */
  candidates(key: JoinKey): readonly OpenEvaluation[] {
    if (key === ANY) return [...this.#byKey.keys()].flatMap((one) => this.#at(one)).sort(byAge);
    const same = this.#at(key);
    const any = this.#at(ANY);
    return any.length > 0 ? [...same, ...any].sort(byAge) : same;
  }

  #at(key: JoinKey): readonly OpenEvaluation[] {
    const found = this.#byKey.get(key);
    if (found === undefined) return NONE;
    return found instanceof Bucket ? [...found.open()] : [found];
  }
}

/** A list in the order of deadlines. Those of one node all wait equally long, so a new one goes to the end, or near it. */
export class DueList {
  #first: OpenEvaluation | null = null;
  #last: OpenEvaluation | null = null;
  size = 0;

  get first(): OpenEvaluation | null {
    return this.#first;
  }

  add(evaluation: OpenEvaluation): void {
    let before = this.#last;
    while (before && before.deadlineMs > evaluation.deadlineMs) before = before.previousDue;
    const after = before ? before.nextDue : this.#first;
    evaluation.previousDue = before;
    evaluation.nextDue = after;
    if (before) before.nextDue = evaluation;
    else this.#first = evaluation;
    if (after) after.previousDue = evaluation;
    else this.#last = evaluation;
    this.size++;
  }

  remove(evaluation: OpenEvaluation): void {
    const { previousDue, nextDue } = evaluation;
    if (previousDue) previousDue.nextDue = nextDue;
    else this.#first = nextDue;
    if (nextDue) nextDue.previousDue = previousDue;
    else this.#last = previousDue;
    evaluation.previousDue = null;
    evaluation.nextDue = null;
    this.size--;
  }

  *[Symbol.iterator](): Iterator<OpenEvaluation> {
    for (let one = this.#first; one; one = one.nextDue) yield one;
  }
}
