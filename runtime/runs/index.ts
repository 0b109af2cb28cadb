// The door of runs/: durable runs of rules, and direct runs whose caller waits.

export { Contention } from './contention.ts';
export { ErrorBreaker } from './error-breaker.ts';
export { ExecutionTimes } from './execution-times.ts';
export { choose, type Given, GivenContext, holds } from './decision.ts';
export { type DirectCall, runDirect } from './direct-run.ts';
export { DurableRun } from './durable/index.ts';
export { describe } from './error-location.ts';
export { HIGH, Backpressure } from './backpressure.ts';
export type { Recording, RecordedStep } from './run-recorder.ts';
export { type BreakerLimits, NO_LIMITS, type RunLimits } from './run-limits.ts';
export { Runner } from './runner.ts';
export { runDurably, STATEMENT } from './statement-run.ts';
export type { RunError, RunHost } from './types.ts';
export { invocationOf } from './messages.ts';
export { toWireError } from './wire-error.ts';
