// What a quota says of single runs (language.md 10, resources-and-api.md 9.1). Absent: what holds for everybody.

export interface RunLimits {
  /** Calls on one stack. */
  readonly callDepth?: number;
  /** Elements of an Array or Object that a FOR goes through. */
  readonly iterations?: number;
  readonly memoryBytes?: number;
  readonly cpuTimeMs?: number;
  readonly executionTimeMs?: number;
  /** When a rule or procedure that keeps failing is let rest. */
  readonly errorBreaker?: BreakerLimits;
}

export interface BreakerLimits {
  /** So many runs are looked at. */
  readonly sample: number;
  readonly failurePercent: number;
  /** So many are looked at after it has rested. */
  readonly retrySample: number;
  readonly retryAfterMs: number;
}

export const NO_LIMITS: RunLimits = {};

/** What of it is kept inside the isolate, as its options. */
export const isolateLimits = ({
  callDepth,
  iterations,
  memoryBytes,
}: RunLimits): { callDepth?: number; iterations?: number; memory?: number } => ({
  ...(callDepth !== undefined && { callDepth }),
  ...(iterations !== undefined && { iterations }),
  ...(memoryBytes !== undefined && { memory: memoryBytes }),
});
