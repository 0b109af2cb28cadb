// The limits of language.md 10 that are kept inside the isolate. Their errors are not caught by any TRY (T5).
import { CascadeError, type LangCode, langError } from '../errors.ts';

export const LIMITS = {
  callDepth: 200,
  /** Elements of an Array or Object that a FOR goes through. */
  iterations: 100_000,
  /** Largest index of an Array, and most elements. */
  elements: 10_000_000,
  /** Of a regular expression that backtracks: less than a second. */
  patternSteps: 10_000_000,
  memoryBytes: 256 * 1024 * 1024,
  /** What a run may charge before it gives way once. */
  chargePerSlice: 8 * 1024 * 1024,
  /** Characters of what crosses the border at once, with `VALUE_WEIGHT` for each value: no more than may be stored. */
  weight: 16 * 1024 * 1024,
} as const;

/** About what a new key of a growing Object takes, with its share of the table, and a new element with the small value that it holds. */
export const NEW_KEY_BYTES = 128;
export const NEW_ELEMENT_BYTES = 48;
/** Characters of a message of the log, and of an error. */
export const MOST_MESSAGE = 32_769;
/** About what CATCH makes of an error. */
export const CAUGHT_BYTES = 1024;
/** A throw takes as long as this many turns of a loop. */
export const CAUGHT_FUEL = 20;

const UNCATCHABLE: ReadonlySet<string> = new Set([
  'cascade.execution.depth',
  'cascade.execution.memory',
  'cascade.execution.timeout',
  'cascade.execution.iteration.limit',
]);

/** How V8 words what no value may be as large as. */
const TOO_LARGE = /^(?:Invalid (?:string|array|typed array|array buffer) length|Array buffer allocation failed|Maximum BigInt size)/;

/** The limit that an error of JavaScript's own means: too deep a stack, too large a value; null: it is no more than an error. */
export function limitIn(error: unknown): 'cascade.execution.depth' | 'cascade.execution.memory' | null {
  if (!(error instanceof RangeError)) return null;
  if (error.message.startsWith('Maximum call stack size')) return 'cascade.execution.depth';
  return TOO_LARGE.test(error.message) ? 'cascade.execution.memory' : null;
}

/** Whether an error passes every TRY. What a program raised itself under such a code has status 400 and is caught like any other. */
export function isLimit(error: unknown): boolean {
  if (limitIn(error) !== null) return true;
  return error instanceof CascadeError && error.status === 429 && UNCATCHABLE.has(error.code);
}

export function limitError(code: Extract<LangCode, `cascade.execution.${string}`>, resource: string, limit: number): CascadeError {
  return langError(code, resource, limit);
}
