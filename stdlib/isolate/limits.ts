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

/**
 * Whether an error passes every TRY. An overflow of JavaScript's own stack counts as too deep a call; what a program raised itself under
 * such a code has status 400 and is caught like any other.
 */
export function isLimit(error: unknown): boolean {
  if (error instanceof RangeError) return true;
  return error instanceof CascadeError && error.status === 429 && UNCATCHABLE.has(error.code);
}

export function limitError(code: Extract<LangCode, `cascade.execution.${string}`>, resource: string, limit: number): CascadeError {
  return langError(code, resource, limit);
}
