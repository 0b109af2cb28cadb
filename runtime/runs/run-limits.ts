// The limits of single runs in a quota (language.md 10, resources-and-api.md 9.1). Absent: the general limits.

import { LIMITS } from '../../stdlib/isolate/index.ts';

export interface RunLimits {
  /** Calls on one stack. */
  readonly callDepth?: number;
  /** Elements of an Array or Object that a FOR goes through. */
  readonly iterations?: number;
  readonly memoryBytes?: number;
  readonly cpuTimeMs?: number;
  readonly executionTimeMs?: number;
  /** When a rule or procedure that keeps failing is suspended. */
  readonly errorBreaker?: BreakerLimits;
}

export interface BreakerLimits {
  /** Number of runs whose outcomes are compared. */
  readonly sample: number;
  readonly failurePercent: number;
  /** The same after a suspension. */
  readonly retrySample: number;
  readonly retryAfterMs: number;
}

export const NO_LIMITS: RunLimits = {};

/** Calls on one stack, of rules and procedures alike. */
export const mostCalls = ({ callDepth }: RunLimits): number => callDepth ?? LIMITS.callDepth;

/** The limits that are checked inside the isolate, as its options. */
export const isolateLimits = ({
  callDepth,
  iterations,
  memoryBytes,
}: RunLimits): { callDepth?: number; iterations?: number; memory?: number } => ({
  ...(callDepth !== undefined && { callDepth }),
  ...(iterations !== undefined && { iterations }),
  ...(memoryBytes !== undefined && { memory: memoryBytes }),
});
