// The ends that the sandbox itself gives to a run (language.md 10, integrations.md 12.5).
import { randomUUID } from 'node:crypto';
import { apiError } from '../model/errors/index.ts';
import type { LossReason } from './wire.ts';
import type { RunFailure } from './types.ts';

export interface RunLimits {
  cpuTimeMs: number;
  memoryBytes: number;
}

/** Why a run may be ended from outside: a limit, or that it can't go on for a reason that is not its own. */
export type Limit = Exclude<LossReason, 'stale'>;

/** @param resource what ran, as StartOptions.resource names it */
export function failureOf(limit: Limit, resource: string, limits: RunLimits): RunFailure {
  if (limit === 'timeout') return plain(apiError('cascade.execution.timeout', resource, `${limits.cpuTimeMs / 1000} seconds`));
  if (limit === 'memory') return plain(apiError('cascade.execution.memory', resource, limits.memoryBytes));
  return plain(apiError('cascade.server.error', randomUUID()));
}

function plain({ code, message, params, status }: ReturnType<typeof apiError>): RunFailure {
  return { code, message, params, status, frames: [] };
}
