// BEFORE, AFTER and AND as a machine (language.md 6.3): a tree whose leaves are triggers and whose nodes pair what their children yield.
// An event first completes what older ones began, then begins its own: so it never fills both places.

import type { ConditionData, CorrelationSpec, TriggerSpec } from '../../compiler/index.ts';
import {
  askedIn,
  conditionOf,
  type ConditionEnvironment,
  type Join,
  type JoinKey,
  joinOf,
  type EvaluationContext,
  withoutAsked,
} from '../triggers/index.ts';
import { DueList, OpenEvaluation, SideIndex } from './open-evaluations.ts';
import {
  type Answers,
  type Began,
  type Bindings,
  type Evaluation,
  type MatchedEvent,
  type Machine,
  type MachineContext,
  NOTHING,
  type Outcome,
  type Question,
} from './types.ts';

type Side = 'left' | 'right';
/** @param came what has completed the evaluation; `bindings` holds it, too */
type Complete = (evaluation: Evaluation, bindings: Bindings, came: Bindings) => void;

interface Node {
  readonly index: number;
  readonly operator: CorrelationSpec['operator'];
  readonly children: Readonly<Record<Side, number | Node>>;
  readonly withinMs: number;
  readonly test: ((context: EvaluationContext) => boolean) | null;
  /** A program decides whether a pair that passes the test matches. */
  readonly asks: ConditionData | null;
  /** Null: no equality relates the sides, so each event is a candidate for each. */
  readonly join: Join | null;
  /** Evaluations by the side that they wait for. */
  readonly waitsFor: Readonly<Record<Side, SideIndex>>;
  readonly due: DueList;
}

const OPPOSITE: Readonly<Record<Side, Side>> = { left: 'right', right: 'left' };

export interface CorrelationOptions {
  readonly spec: CorrelationSpec;
  readonly triggers: readonly TriggerSpec[];
  readonly conditions: ConditionEnvironment;
  readonly environment: MachineContext;
  /** Open evaluations of the rule; beyond it the oldest closes (language.md K10). */
  readonly mostOpen: number;
}

export class Correlation implements Machine {
  readonly #options: CorrelationOptions;
  readonly #root: Node;
  readonly #nodes: Node[] = [];
  /** The outcome of the arrival that is being worked out. */
  #opened: Evaluation[] = [];
  #closed: Evaluation[] = [];
  /** Of each result of a part of the trigger, the evaluation that was completed, and by what. */
  #origins: Map<Bindings, { readonly evaluation: Evaluation; readonly came: Bindings }> | null = null;
  /** What these parts led to, in order. */
  #led: { readonly evaluation: Evaluation; readonly bindings: Bindings }[] = [];
  readonly #places: (readonly number[])[] = [];
  readonly #pairs: (readonly number[])[] = [];
  #order = 0;
  #isReplaying = false;
  #answers: Answers = NO_ANSWERS;
  /** The unanswered questions while they are being collected: nothing changes then. */
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

  questions(matched: MatchedEvent, places: readonly number[], isReplayed: boolean, answers: Answers): readonly Question[] {
    const questions = new Map<string, Question>();
    this.#isReplaying = isReplayed;
    this.#answers = answers;
    this.#questions = questions;
    this.#at(this.#root, matched, places, () => undefined);
    this.#questions = null;
    return [...questions.values()];
  }

  arrive(matched: MatchedEvent, places: readonly number[], isReplayed = false, answers = NO_ANSWERS): Outcome {
    this.#isReplaying = isReplayed;
    this.#answers = answers;
    const completed: Outcome['completed'][number][] = [];
    this.#at(this.#root, matched, places, (evaluation, bindings, came) => {
      completed.push({ evaluation, bindings });
      if (this.#origins) this.#led.push({ evaluation, bindings: came });
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

  /** The shared places array of evaluations with one event: a million may be open. */
  #alone(place: number): readonly number[] {
    return (this.#places[place] ??= [place]);
  }

  /** What the event yields at a child: nothing, itself, or the pairs that it completes. */
  #yield(child: number | Node, matched: MatchedEvent, places: readonly number[]): readonly Bindings[] {
    if (typeof child === 'number') return places.includes(child) ? [{ places: this.#alone(child), events: [matched] }] : NONE;
    const yielded: Bindings[] = [];
    this.#at(child, matched, places, (evaluation, bindings, came) => {
      yielded.push(bindings);
      if (this.#questions) return;
      this.#closed.push(evaluation);
      this.#origins ??= new Map();
      this.#origins.set(bindings, { evaluation, came });
    });
    return yielded;
  }

  #at(node: Node, matched: MatchedEvent, places: readonly number[], complete: Complete): void {
    const { operator, children } = node;
    const yielded = {
      left: this.#yield(children.left, matched, places),
      right: this.#yield(children.right, matched, places),
    };
    if (yielded.left.length === 0 && yielded.right.length === 0) return;
    let paired = false;
    for (const side of COMPLETING[operator])
      for (const bindings of yielded[side])
        for (const { evaluation, whole } of this.#matching(node, side, bindings, matched)) {
          if (!this.#questions) this.#close(node, evaluation);
          complete(evaluation, whole, bindings);
          paired = true;
        }
    if (this.#questions) return;
    if (operator === 'before') for (const bindings of yielded.left) this.#begin(node, 'left', bindings, matched);
    else if (operator === 'after') for (const bindings of yielded.right) this.#begin(node, 'right', bindings, matched);
    else if (!paired) this.#beginEither(node, yielded, matched);
  }

  /** Of AND either side may come first; an event that has completed an evaluation came second and begins none. */
  #beginEither(node: Node, yielded: Readonly<Record<Side, readonly Bindings[]>>, matched: MatchedEvent): void {
    const isOneEvent = typeof node.children.left === 'number' && typeof node.children.right === 'number';
    if (isOneEvent && yielded.left.length > 0 && yielded.right.length > 0)
      for (const bindings of yielded.left) this.#begin(node, 'either', bindings, matched);
    else for (const side of ['left', 'right'] as const) for (const bindings of yielded[side]) this.#begin(node, side, bindings, matched);
  }

  /** Open evaluations that an event on this side completes, oldest first, with the completed bindings. */
  #matching(
    node: Node,
    side: Side,
    bindings: Bindings,
    { atMs }: MatchedEvent,
  ): readonly { evaluation: OpenEvaluation; whole: Bindings }[] {
    if (node.waitsFor[side].isEmpty) return NONE;
    const { join } = node;
    const key = join ? join[side].keyOf(this.#options.environment.contextOf(bindings)) : NO_JOIN;
    const candidates = node.waitsFor[side].candidates(key);
    if (candidates.length === 0) return NONE;
    const isExact = join?.isWhole === true && join[side].wasExact;
    const found: { evaluation: OpenEvaluation; whole: Bindings }[] = [];
    for (const evaluation of candidates) {
      if (this.#isReplaying && evaluation.lastMs > atMs) continue;
      if (evaluation.deadlineMs < atMs || bindings.events.some(({ uuid }) => evaluation.has(uuid))) continue;
      const whole = this.#whole(this.#placesOf(node, evaluation, OPPOSITE[side]), evaluation, bindings);
      // The keys are the compared values themselves, so that the join has decided the condition.
      if (((isExact && evaluation.isExact) || this.#holds(node, whole)) && this.#isAnswered(node, whole)) found.push({ evaluation, whole });
    }
    return found;
  }

  /** The bindings of a completed pair. All pairs of single events share one places array. */
  #whole(begun: readonly number[], evaluation: OpenEvaluation, came: Bindings): Bindings {
    const { only } = evaluation;
    const [second] = came.events;
    if (!only || !second || came.events.length !== 1)
      return { places: [...begun, ...came.places], events: [...evaluation.events, ...came.events] };
    const index = (begun[0] ?? 0) * this.#options.triggers.length + (came.places[0] ?? 0);
    return { places: (this.#pairs[index] ??= [...begun, ...came.places]), events: [only, second] };
  }

  /** The places of an evaluation's events on a side. */
  #placesOf({ children }: Node, { began, places }: Evaluation, side: Side): readonly number[] {
    const place = children[side];
    return began === 'either' && typeof place === 'number' ? this.#alone(place) : places;
  }

  /** Whether a program has confirmed the pair; without an answer it becomes one of the questions. */
  #isAnswered({ asks, index }: Node, bindings: Bindings): boolean {
    if (!asks) return true;
    const key = JSON.stringify([index, bindings.places, bindings.events.map(({ uuid }) => uuid)]);
    const answer = this.#answers.get(key);
    if (answer === undefined) this.#questions?.set(key, { key, condition: asks, bindings });
    return answer ?? false;
  }

  #holds({ test }: Node, bindings: Bindings): boolean {
    if (!test) return true;
    const { environment } = this.#options;
    try {
      return test(environment.contextOf(bindings));
    } catch (error) {
      environment.onError(error);
      return false;
    }
  }

  #begin(node: Node, began: Began, bindings: Bindings, { atMs }: MatchedEvent): void {
    const { places, events } = bindings;
    const evaluation = new OpenEvaluation({
      order: ++this.#order,
      node: node.index,
      began,
      deadlineMs: atMs + node.withinMs,
      places,
      events,
      storedIn: 'nowhere',
    });
    this.#insert(node, evaluation);
    this.#opened.push(evaluation);
    if (this.#origins) this.#led.push({ evaluation, bindings });
    if (this.#open > this.#options.mostOpen) this.#dropOldest();
  }

  #insert(node: Node, evaluation: OpenEvaluation): void {
    const { environment } = this.#options;
    const { join } = node;
    const put = (side: Side): JoinKey => {
      const bindings = { places: this.#placesOf(node, evaluation, side), events: evaluation.events };
      const key = join ? join[side].keyOf(environment.contextOf(bindings)) : NO_JOIN;
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
    this.#options.environment.onFull();
  }

  /** A closed part is stored with the last evaluation that it led to: until then a restart needs it for the others. */
  #parts(origins: ReadonlyMap<Bindings, { readonly evaluation: Evaluation; readonly came: Bindings }>): Outcome['parts'] {
    const parts = new Map<Evaluation, Evaluation[]>();
    const placed = new Set<Evaluation>();
    for (const { evaluation, bindings } of this.#led.reverse())
      for (let origin = origins.get(bindings); origin; origin = origins.get(origin.came)) {
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
    // An outcome is never changed after it was returned: its writes may be stored with those of later events.
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

/** The one key of all evaluations of a node without a join. */
const NO_JOIN = '';

const placesOf = (child: number | Node): number[] =>
  typeof child === 'number' ? [child] : [...placesOf(child.children.left), ...placesOf(child.children.right)];
