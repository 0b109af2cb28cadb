// BEFORE, AFTER and AND as a machine (language.md 6.3): a tree whose leaves are triggers and whose nodes pair what their children yield.
// An event first completes what older ones began, then begins its own: so it never fills both places.

import type { ConditionData, CorrelationSpec, TriggerSpec } from '../../compiler/index.ts';
import {
  askedIn,
  conditionOf,
  type ConditionSurroundings,
  type Join,
  type JoinKey,
  joinOf,
  type Surrounding,
  withoutAsked,
} from '../triggers/index.ts';
import { DueList, OpenEvaluation, SideIndex } from './open-evaluations.ts';
import {
  type Answers,
  type Began,
  type Bound,
  type Evaluation,
  type Happening,
  type Machine,
  type MachineSurroundings,
  NOTHING,
  type Outcome,
  type Question,
} from './types.ts';

type Side = 'left' | 'right';
/** @param came what has completed the evaluation, which `bound` holds, too */
type Complete = (evaluation: Evaluation, bound: Bound, came: Bound) => void;

interface Node {
  readonly index: number;
  readonly operator: CorrelationSpec['operator'];
  readonly children: Readonly<Record<Side, number | Node>>;
  readonly withinMs: number;
  readonly test: ((around: Surrounding) => boolean) | null;
  /** A program decides whether a pair that passes the test belongs together. */
  readonly asks: ConditionData | null;
  /** Null: nothing relates the sides by an equality, so each is a candidate for each. */
  readonly join: Join | null;
  /** Evaluations by the side that they wait for. */
  readonly waitsFor: Readonly<Record<Side, SideIndex>>;
  readonly due: DueList;
}

const OPPOSITE: Readonly<Record<Side, Side>> = { left: 'right', right: 'left' };

export interface CorrelationOptions {
  readonly spec: CorrelationSpec;
  readonly triggers: readonly TriggerSpec[];
  readonly conditions: ConditionSurroundings;
  readonly surroundings: MachineSurroundings;
  /** Open evaluations of the rule; beyond it the oldest closes (language.md K10). */
  readonly mostOpen: number;
}

export class Correlation implements Machine {
  readonly #options: CorrelationOptions;
  readonly #root: Node;
  readonly #nodes: Node[] = [];
  /** What one arrival leads to, while it is worked out. */
  #opened: Evaluation[] = [];
  #closed: Evaluation[] = [];
  /** What a part of the trigger has yielded: the evaluation that was completed by it, and with what. */
  #origins: Map<Bound, { readonly evaluation: Evaluation; readonly came: Bound }> | null = null;
  /** What these parts led to, in its order. */
  #led: { readonly evaluation: Evaluation; readonly bound: Bound }[] = [];
  readonly #places: (readonly number[])[] = [];
  readonly #pairs: (readonly number[])[] = [];
  #order = 0;
  #isReplaying = false;
  #answers: Answers = NO_ANSWERS;
  /** What has no answer, while that is worked out: nothing changes then. */
  #questions: Map<string, Question> | null = null;
  #open = 0;

  constructor(options: CorrelationOptions) {
    this.#options = options;
    this.#root = this.#build(options.spec);
  }

  get open(): number {
    return this.#open;
  }

  get nextDueMs(): number | null {
    let next: number | null = null;
    for (const { due } of this.#nodes) if (due.first && (next === null || due.first.deadlineMs < next)) next = due.first.deadlineMs;
    return next;
  }

  begin(): Outcome {
    return NOTHING;
  }

  questions(happening: Happening, places: readonly number[], isReplayed: boolean, answers: Answers): readonly Question[] {
    const questions = new Map<string, Question>();
    this.#isReplaying = isReplayed;
    this.#answers = answers;
    this.#questions = questions;
    this.#at(this.#root, happening, places, () => undefined);
    this.#questions = null;
    return [...questions.values()];
  }

  arrive(happening: Happening, places: readonly number[], isReplayed = false, answers = NO_ANSWERS): Outcome {
    this.#isReplaying = isReplayed;
    this.#answers = answers;
    const completed: Outcome['completed'][number][] = [];
    this.#at(this.#root, happening, places, (evaluation, bound, came) => {
      completed.push({ evaluation, bound });
      if (this.#origins) this.#led.push({ evaluation, bound: came });
    });
    return this.#outcome(completed, []);
  }

  expire(untilMs: number): Outcome {
    const timedOut: Evaluation[] = [];
    for (const node of this.#nodes)
      for (let first = node.due.first; first && first.deadlineMs <= untilMs; first = node.due.first) {
        this.#close(node, first);
        if (node === this.#root) timedOut.push(first);
        else this.#closed.push(first); // nested time-outs just close (K8)
      }
    return this.#outcome([], timedOut);
  }

  restore(evaluation: Evaluation): void {
    const node = this.#nodes[evaluation.node];
    if (!node) throw new RangeError(`node ${evaluation.node}`);
    this.#insert(node, new OpenEvaluation(evaluation));
    this.#order = Math.max(this.#order, evaluation.order);
  }

  *evaluations(): Iterable<Evaluation> {
    for (const { due } of this.#nodes) yield* due;
  }

  #build(spec: CorrelationSpec): Node {
    const { triggers, conditions } = this.#options;
    const child = (one: number | CorrelationSpec): number | Node => (typeof one === 'number' ? one : this.#build(one));
    const children = { left: child(spec.left), right: child(spec.right) };
    const variablesOf = (side: Side): Set<string> => new Set(placesOf(children[side]).map((place) => triggers[place]?.variable ?? ''));
    const sides = { left: variablesOf('left'), right: variablesOf('right') };
    const data = withoutAsked(spec.constraint);
    const node: Node = {
      index: this.#nodes.length,
      operator: spec.operator,
      children,
      withinMs: spec.withinMs,
      test: data && conditionOf(data, triggers, conditions),
      asks: askedIn(spec.constraint).length > 0 ? spec.constraint : null,
      join: data && joinOf(data, triggers, sides, conditions),
      waitsFor: { left: new SideIndex(), right: new SideIndex() },
      due: new DueList(),
    };
    this.#nodes.push(node);
    return node;
  }

  /** One array for all that stand in this place alone: a million may be open. */
  #alone(place: number): readonly number[] {
    return (this.#places[place] ??= [place]);
  }

  /** What the event yields at a child: nothing, itself, or what it completes there. */
  #yield(child: number | Node, happening: Happening, places: readonly number[]): readonly Bound[] {
    if (typeof child === 'number') return places.includes(child) ? [{ places: this.#alone(child), happenings: [happening] }] : NONE;
    const yielded: Bound[] = [];
    this.#at(child, happening, places, (evaluation, bound, came) => {
      yielded.push(bound);
      if (this.#questions) return;
      this.#closed.push(evaluation);
      this.#origins ??= new Map();
      this.#origins.set(bound, { evaluation, came });
    });
    return yielded;
  }

  #at(node: Node, happening: Happening, places: readonly number[], complete: Complete): void {
    const { operator, children } = node;
    const yielded = {
      left: this.#yield(children.left, happening, places),
      right: this.#yield(children.right, happening, places),
    };
    if (yielded.left.length === 0 && yielded.right.length === 0) return;
    let paired = false;
    for (const side of COMPLETING[operator])
      for (const bound of yielded[side])
        for (const { evaluation, whole } of this.#matching(node, side, bound, happening)) {
          if (!this.#questions) this.#close(node, evaluation);
          complete(evaluation, whole, bound);
          paired = true;
        }
    if (this.#questions) return;
    if (operator === 'before') for (const bound of yielded.left) this.#begin(node, 'left', bound, happening);
    else if (operator === 'after') for (const bound of yielded.right) this.#begin(node, 'right', bound, happening);
    else if (!paired) this.#beginEither(node, yielded, happening);
  }

  /** Of AND whichever comes first begins: what has completed another's attempt came second. */
  #beginEither(node: Node, yielded: Readonly<Record<Side, readonly Bound[]>>, happening: Happening): void {
    const isOneEvent = typeof node.children.left === 'number' && typeof node.children.right === 'number';
    if (isOneEvent && yielded.left.length > 0 && yielded.right.length > 0)
      for (const bound of yielded.left) this.#begin(node, 'either', bound, happening);
    else for (const side of ['left', 'right'] as const) for (const bound of yielded[side]) this.#begin(node, side, bound, happening);
  }

  /** Open evaluations that what came on this side completes, oldest first, each with all that it then holds. */
  #matching(node: Node, side: Side, bound: Bound, { atMs }: Happening): readonly { evaluation: OpenEvaluation; whole: Bound }[] {
    if (node.waitsFor[side].isEmpty) return NONE;
    const { join } = node;
    const key = join ? join[side].keyOf(this.#options.surroundings.surroundingOf(bound)) : NO_JOIN;
    const candidates = node.waitsFor[side].candidates(key);
    if (candidates.length === 0) return NONE;
    const isExact = join?.isWhole === true && join[side].wasExact;
    const found: { evaluation: OpenEvaluation; whole: Bound }[] = [];
    for (const evaluation of candidates) {
      if (this.#isReplaying && evaluation.lastMs > atMs) continue;
      if (evaluation.deadlineMs < atMs || bound.happenings.some(({ uuid }) => evaluation.has(uuid))) continue;
      const whole = this.#whole(this.#placesOf(node, evaluation, OPPOSITE[side]), evaluation, bound);
      // Both have the values themselves for a key: the condition has been decided by it.
      if (((isExact && evaluation.isExact) || this.#holds(node, whole)) && this.#isAnswered(node, whole)) found.push({ evaluation, whole });
    }
    return found;
  }

  /** What has begun and what came. All pairs of single events share the array of their places. */
  #whole(begun: readonly number[], evaluation: OpenEvaluation, came: Bound): Bound {
    const { only } = evaluation;
    const [second] = came.happenings;
    if (!only || !second || came.happenings.length !== 1)
      return { places: [...begun, ...came.places], happenings: [...evaluation.happenings, ...came.happenings] };
    const index = (begun[0] ?? 0) * this.#options.triggers.length + (came.places[0] ?? 0);
    return { places: (this.#pairs[index] ??= [...begun, ...came.places]), happenings: [only, second] };
  }

  /** Where the events of an evaluation stand on a side: one that may be in either place is in this one. */
  #placesOf({ children }: Node, { began, places }: Evaluation, side: Side): readonly number[] {
    const place = children[side];
    return began === 'either' && typeof place === 'number' ? this.#alone(place) : places;
  }

  /** What a program has said of it; without an answer it is one of the questions. */
  #isAnswered({ asks, index }: Node, bound: Bound): boolean {
    if (!asks) return true;
    const key = JSON.stringify([index, bound.places, bound.happenings.map(({ uuid }) => uuid)]);
    const answer = this.#answers.get(key);
    if (answer === undefined) this.#questions?.set(key, { key, condition: asks, bound });
    return answer ?? false;
  }

  #holds({ test }: Node, bound: Bound): boolean {
    if (!test) return true;
    const { surroundings } = this.#options;
    try {
      return test(surroundings.surroundingOf(bound));
    } catch (error) {
      surroundings.onError(error);
      return false;
    }
  }

  #begin(node: Node, began: Began, bound: Bound, { atMs }: Happening): void {
    const { places, happenings } = bound;
    const evaluation = new OpenEvaluation({
      order: ++this.#order,
      node: node.index,
      began,
      deadlineMs: atMs + node.withinMs,
      places,
      happenings,
      kept: 'nowhere',
    });
    this.#insert(node, evaluation);
    this.#opened.push(evaluation);
    if (this.#origins) this.#led.push({ evaluation, bound });
    if (this.#open > this.#options.mostOpen) this.#dropOldest();
  }

  #insert(node: Node, evaluation: OpenEvaluation): void {
    const { surroundings } = this.#options;
    const { join } = node;
    const put = (side: Side): JoinKey => {
      const bound = { places: this.#placesOf(node, evaluation, side), happenings: evaluation.happenings };
      const key = join ? join[side].keyOf(surroundings.surroundingOf(bound)) : NO_JOIN;
      node.waitsFor[OPPOSITE[side]].add(evaluation, key);
      return key;
    };
    const side = evaluation.began === 'right' ? 'right' : 'left';
    evaluation.key = put(side);
    evaluation.isExact = join?.isWhole === true && join[side].wasExact && evaluation.began !== 'either';
    if (evaluation.began === 'either') evaluation.otherKey = put('right');
    node.due.add(evaluation);
    this.#open++;
  }

  #close(node: Node, evaluation: OpenEvaluation): void {
    evaluation.isOpen = false;
    node.waitsFor[evaluation.began === 'right' ? 'left' : 'right'].remove(evaluation, evaluation.key);
    if (evaluation.otherKey !== null) node.waitsFor.left.remove(evaluation, evaluation.otherKey);
    node.due.remove(evaluation);
    this.#open--;
  }

  #dropOldest(): void {
    let oldest: OpenEvaluation | null = null;
    for (const { due } of this.#nodes) if (due.first && (!oldest || due.first.order < oldest.order)) oldest = due.first;
    const node = oldest && this.#nodes[oldest.node];
    if (!oldest || !node) return;
    this.#close(node, oldest);
    this.#closed.push(oldest);
    this.#options.surroundings.onFull();
  }

  /** Each part goes with the last of what it led to: until then a restart needs it for the rest. */
  #parts(origins: ReadonlyMap<Bound, { readonly evaluation: Evaluation; readonly came: Bound }>): Outcome['parts'] {
    const parts = new Map<Evaluation, Evaluation[]>();
    const placed = new Set<Evaluation>();
    for (const { evaluation, bound } of this.#led.reverse())
      for (let origin = origins.get(bound); origin; origin = origins.get(origin.came)) {
        if (placed.has(origin.evaluation)) continue;
        placed.add(origin.evaluation);
        const known = parts.get(evaluation);
        if (known) known.push(origin.evaluation);
        else parts.set(evaluation, [origin.evaluation]);
      }
    this.#led = [];
    return parts;
  }

  #outcome(completed: Outcome['completed'], timedOut: readonly Evaluation[]): Outcome {
    // What is handed out is never added to afterwards, an empty one neither: it is carried out with what the next events lead to.
    const outcome = {
      opened: this.#opened.length > 0 ? this.#opened : NONE,
      closed: this.#closed.length > 0 ? this.#closed : NONE,
      completed,
      timedOut,
      ...(this.#origins && { parts: this.#parts(this.#origins) }),
    };
    this.#origins = null;
    if (this.#opened.length > 0) this.#opened = [];
    if (this.#closed.length > 0) this.#closed = [];
    return outcome;
  }
}

const NONE: readonly never[] = [];
const NO_ANSWERS: Answers = new Map();
const COMPLETING: Readonly<Record<CorrelationSpec['operator'], readonly Side[]>> = {
  before: ['right'],
  after: ['left'],
  and: ['left', 'right'],
};

/** The one key of all evaluations where nothing tells them apart. */
const NO_JOIN = '';

const placesOf = (child: number | Node): number[] =>
  typeof child === 'number' ? [child] : [...placesOf(child.children.left), ...placesOf(child.children.right)];
