// The open evaluations of one node of a trigger: found by the key of what they wait for, and in the order of their deadlines. Both cost the
// same however many are open.

import { ANY, type JoinKey } from '../triggers/index.ts';
import type { Began, Evaluation, Happening } from './types.ts';

/** An evaluation with its places in the structures here. */
export class OpenEvaluation implements Evaluation {
  readonly order: number;
  readonly node: number;
  readonly began: Began;
  readonly places: readonly number[];
  /** The one event that most have needs no array of its own: a million may be open. */
  readonly #held: Happening | readonly Happening[];
  /** From its last event to its deadline. */
  readonly #leftMs: number;
  isOpen = true;
  /** Its key is the values that are compared, and nothing else is. */
  isExact = false;
  kept: Evaluation['kept'];
  bucket: Bucket | null = null;
  /** Of one that may stand in either place. */
  otherBucket: Bucket | null = null;
  previousDue: OpenEvaluation | null = null;
  nextDue: OpenEvaluation | null = null;

  constructor({ order, node, began, deadlineMs, places, happenings, kept }: Omit<Evaluation, 'isOpen'>) {
    this.order = order;
    this.node = node;
    this.began = began;
    this.places = places;
    const [only] = happenings;
    this.#held = happenings.length === 1 && only ? only : happenings;
    this.#leftMs = deadlineMs - (happenings.at(-1)?.atMs ?? 0);
    this.kept = kept;
  }

  get happenings(): readonly Happening[] {
    return isOne(this.#held) ? [this.#held] : this.#held;
  }

  get deadlineMs(): number {
    const last = isOne(this.#held) ? this.#held : this.#held.at(-1);
    return (last?.atMs ?? 0) + this.#leftMs;
  }
}

const isOne = (held: Happening | readonly Happening[]): held is Happening => !Array.isArray(held);

/** Evaluations with one key, oldest first. Most hold one, which needs no array; closed ones stay until enough of them have gathered. */
export class Bucket {
  readonly key: JoinKey;
  #only: OpenEvaluation | null = null;
  #items: OpenEvaluation[] | null = null;
  #head = 0;
  live = 0;

  constructor(key: JoinKey) {
    this.key = key;
  }

  add(evaluation: OpenEvaluation): void {
    this.live++;
    if (this.#items) this.#items.push(evaluation);
    else if (this.#only?.isOpen) this.#items = [this.#only, evaluation];
    else this.#only = evaluation;
  }

  forget(): void {
    this.live--;
    if (!this.#items) return;
    while (this.#head < this.#items.length && !this.#items[this.#head]?.isOpen) this.#head++;
    const held = this.#items.length - this.#head;
    if ((held > 8 && this.live * 2 < held) || (this.#head > 1_000 && this.#head * 2 > this.#items.length)) this.#tidy(this.#items);
  }

  open(): readonly OpenEvaluation[] {
    if (!this.#items) return this.#only?.isOpen ? [this.#only] : [];
    return this.live < this.#items.length ? this.#tidy(this.#items) : this.#items;
  }

  #tidy(items: readonly OpenEvaluation[]): readonly OpenEvaluation[] {
    this.#items = items.filter(({ isOpen }) => isOpen);
    this.#head = 0;
    return this.#items;
  }
}

const NONE: readonly OpenEvaluation[] = [];
const byAge = (a: OpenEvaluation, b: OpenEvaluation): number => a.order - b.order;

/** Evaluations that wait for one side of the node, by the key that the side's event must have. */
export class SideIndex {
  readonly #byKey = new Map<JoinKey, Bucket>();

  add(evaluation: OpenEvaluation, key: JoinKey): Bucket {
    let bucket = this.#byKey.get(key);
    if (!bucket) {
      bucket = new Bucket(key);
      this.#byKey.set(key, bucket);
    }
    bucket.add(evaluation);
    return bucket;
  }

  forget(bucket: Bucket): void {
    bucket.forget();
    if (bucket.live === 0 && this.#byKey.get(bucket.key) === bucket) this.#byKey.delete(bucket.key);
  }

  get isEmpty(): boolean {
    return this.#byKey.size === 0;
  }

  /** A copy of those that an event with this key may complete, oldest first. */
  candidates(key: JoinKey): readonly OpenEvaluation[] {
    if (key === ANY) return [...this.#byKey.values()].flatMap((bucket) => bucket.open()).sort(byAge);
    const same = this.#byKey.get(key)?.open() ?? NONE;
    const any = this.#byKey.get(ANY)?.open();
    return any ? [...same, ...any].sort(byAge) : same.length > 0 ? [...same] : NONE;
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
