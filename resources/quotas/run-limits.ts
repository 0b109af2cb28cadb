// The limits of single runs in a quota document (language.md 10, resources-and-api.md 9.1). Pure. A quota may tighten the defaults; limits
// that protect the process are never widened.

import { getOwn, isInteger, type ObjectValue } from '../../stdlib/values/index.ts';
import { type BreakerLimits, NO_LIMITS, type RunLimits } from '../../runtime/runs/index.ts';
import { invalid, part, requireOnly } from './fields.ts';

export const RUN_LIMITS = ['stackDepth', 'executionTime', 'synchronousIterationSize', 'cpuTime', 'memoryBytes', 'errorBreaker'] as const;

const UNIT_MS: Readonly<Record<string, number>> = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 };
const LONGEST_MS = 30 * 86_400_000;

/** @param limits the member `limits` of a quota document. @throws cascade.resource.property.invalid */
export function runLimitsIn(limits: ObjectValue): RunLimits {
  const given = {
    callDepth: whole(limits, 'stackDepth', 1, 200),
    iterations: whole(limits, 'synchronousIterationSize', 1, 10_000_000),
    memoryBytes: whole(limits, 'memoryBytes', 1_048_576, 268_435_456),
    cpuTimeMs: time(limits, 'cpuTime', 20_000),
    executionTimeMs: time(limits, 'executionTime', LONGEST_MS),
    errorBreaker: breakerIn(limits),
  };
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  return named.length === 0 ? NO_LIMITS : Object.fromEntries(named);
}

/** No error breaker unless the quota asks for it: see docs/decisions/running.md. */
function breakerIn(limits: ObjectValue): BreakerLimits | undefined {
  if (!Object.hasOwn(limits, 'errorBreaker') || getOwn(limits, 'errorBreaker') === null) return undefined;
  const given = part(limits, 'errorBreaker', 'limits.');
  requireOnly(given, ['sample', 'failurePercent', 'retrySample', 'retryAfter'], 'limits.errorBreaker.');
  return {
    sample: whole(given, 'sample', 1, 1_000, 'limits.errorBreaker.') ?? 20,
    failurePercent: whole(given, 'failurePercent', 1, 100, 'limits.errorBreaker.') ?? 80,
    retrySample: whole(given, 'retrySample', 1, 1_000, 'limits.errorBreaker.') ?? 2,
    retryAfterMs: time(given, 'retryAfter', LONGEST_MS, 'limits.errorBreaker.') ?? 60_000,
  };
}

/** A whole number within its bounds; undefined: the default holds. */
function whole(object: ObjectValue, name: string, least: number, most: number, prefix = 'limits.'): number | undefined {
  const value = Object.hasOwn(object, name) ? getOwn(object, name) : null;
  if (value === null) return undefined;
  const number = isInteger(value) ? Number(value) : Number.NaN;
  if (number === -1) return undefined;
  if (!(number >= least && number <= most)) throw invalid(`${prefix}${name} is no whole number from ${least} to ${most}`);
  return number;
}

/** Parses `20 seconds`, `1 minute`, `2 hours` to milliseconds. */
function time(object: ObjectValue, name: string, mostMs: number, prefix = 'limits.'): number | undefined {
  const value = Object.hasOwn(object, name) ? getOwn(object, name) : null;
  if (value === null) return undefined;
  const [, count = '', unit = ''] = (typeof value === 'string' && /^(\d{1,9}) (second|minute|hour|day)s?$/.exec(value)) || [];
  const ms = Number(count) * (UNIT_MS[unit] ?? Number.NaN);
  if (!(ms > 0 && ms <= mostMs)) throw invalid(`${prefix}${name} is no time such as "20 seconds", at most ${mostMs / 1_000} seconds`);
  return ms;
}
