// Queries with a regular expression are bounded in time (resources-and-api.md 3.2): the store's engine is not linear.

import type { Document } from 'mongodb';
import type { Effort } from './rows.ts';

const REGEX_MS = 1_000;
/** Operators that contain conditions; all others take constants. */
const NESTED = new Set(['$and', '$or', '$nor', '$not', '$elemMatch']);

/** Operators of expressions that match patterns. */
const MATCHING = new Set(['$regex', '$regexMatch', '$regexFind', '$regexFindAll']);

/** The store's time limit for a pipeline; a tighter one where it matches patterns. */
export const pipelineLimit = (stages: readonly Document[], otherwiseMs: number): number => (matches(stages) ? REGEX_MS : otherwiseMs);

/** Whether a pattern occurs anywhere; a constant that looks like an operator counts, too. */
function matches(part: unknown): boolean {
  if (Array.isArray(part)) return part.some(matches);
  if (typeof part !== 'object' || part === null) return false;
  return Object.entries(part).some(([name, value]) => MATCHING.has(name) || matches(value));
}

/** The store's time limit for a filter; beyond it the error is query.too.expensive. */
export const timeLimit = (filter: Document): Effort => (hasPattern(filter) ? { maxTimeMS: REGEX_MS, isSlow: true } : {});

function hasPattern(filter: unknown): boolean {
  if (Array.isArray(filter)) return filter.some(hasPattern);
  if (typeof filter !== 'object' || filter === null) return false;
  return Object.entries(filter).some(
    ([name, value]) => name === '$regex' || ((NESTED.has(name) || !name.startsWith('$')) && hasPattern(value)),
  );
}
