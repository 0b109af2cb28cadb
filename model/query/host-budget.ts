// What conditions may take in the service's own process, where everybody waits for them: a few milliseconds each. What would take longer is
// not begun: it is a question for a sandbox, where time and memory of a run are bounded, and the condition is decided with its answer
// (runs/decision.ts). A condition that is no rule's has no run to ask in; it is refused.

import { CascadeError, langError } from '../../stdlib/errors.ts';
import { encodeInner, Pattern, type SearchBounds, stepsFor, type Value } from '../../stdlib/values/index.ts';

/** A call of a built-in, or an operator between two values: `a regex b` where none is named. */
export interface DeferredCall {
  readonly builtin: string | null;
  readonly operator?: 'in' | 'regex' | 'geonear' | 'geointersects' | 'geowithin';
  readonly args: readonly Value[];
}

/** What is called. */
const nameOf = ({ builtin, operator = 'regex' }: DeferredCall): string => builtin ?? operator;

/** Of one call, in turns of a loop: 2 to 20 ms. */
const MOST_TURNS = 200_000;
/** What one call may make, in bytes. */
const MOST_BYTES = 4_000_000;
/** Of a pattern that backtracks, in a short text: about a millisecond. */
const PATTERN_STEPS = 20_000;

/** It has to be asked elsewhere; for who cannot ask it is an error like any other. */
export class BudgetExceeded extends CascadeError {
  readonly call: DeferredCall;
  constructor(work: DeferredCall) {
    const { code, message, params, status } = langError('cascade.builtin.timeout', nameOf(work), 1_000);
    super(code, message, params, status);
    this.call = work;
  }

  /** Under which its answer is looked for; null where its arguments are no data, which nobody else can be given. */
  get key(): string | null {
    return keyOf(this.call);
  }
}

/** The arguments as data: a pattern is its text. */
export const dataOf = ({ args }: DeferredCall): Value[] => args.map((arg) => (arg instanceof Pattern ? arg.source : arg));

function keyOf(work: DeferredCall): string | null {
  if (work.operator === 'in') return null; // of paths, where any of several values may be it
  try {
    return `${work.builtin === null ? ' ' : ''}${nameOf(work)} ${encodeInner(dataOf(work))}`;
  } catch (error) {
    if (error instanceof CascadeError) return null;
    throw error;
  }
}

/** Ends a call before, or while, it takes too long. */
class Spent extends Error {}

let answers: ReadonlyMap<string, Value> | null = null;
let allowance: { left: number } | null = null;
/** What the call at hand has taken so far. */
let taken = { turns: 0, bytes: 0 };

/** What a built-in, or a search, tells of itself here (stdlib/builtins/context.ts). */
export const hostBounds: SearchBounds & { charge(bytes: number): void } = {
  patternSteps: (text) => stepsFor(PATTERN_STEPS, text), // one that is long is not begun
  spend(turns) {
    if (allowance ? (allowance.left -= turns) < 0 : (taken.turns += turns) > MOST_TURNS) throw new Spent();
  },
  charge(more) {
    if ((taken.bytes += more) > MOST_BYTES) throw new Spent();
  },
};

/** Does it, or looks up its answer. @throws {BudgetExceeded} */
export function withinBudget<T extends Value>(work: DeferredCall, run: () => T): T {
  const known = answers?.get(keyOf(work) ?? '');
  if (known !== undefined) return known as T;
  taken = { turns: 0, bytes: 0 };
  try {
    return run();
  } catch (error) {
    throw error instanceof Spent || (error instanceof CascadeError && error.code === 'cascade.builtin.timeout')
      ? new BudgetExceeded(work)
      : error;
  } finally {
    taken = { turns: 0, bytes: 0 };
  }
}

/** Evaluates with what has been asked elsewhere. It must not wait for anything. */
export function withAnswers<T>(given: ReadonlyMap<string, Value>, evaluate: () => T): T {
  const before = answers;
  answers = given;
  try {
    return evaluate();
  } finally {
    answers = before;
  }
}

/** Evaluates what may take so many turns in all, and no more. It must not wait for anything. */
export function withAllowance<T>(turns: number, evaluate: () => T): T {
  const before = allowance;
  allowance = { left: turns };
  try {
    return evaluate();
  } finally {
    allowance = before;
  }
}
