// The state of a source as everybody sees it: its definition decides, then its life cycle.
import { apiError } from '../../../model/errors/index.ts';
import type { Namespace } from '../../../resources/catalog/index.ts';
import { DateTime, type ObjectValue, type Value } from '../../../stdlib/values/index.ts';
import type { Counts } from '../counts.ts';
import { own } from '../protocols/fields.ts';
import { protocolOf } from '../protocols/index.ts';
import { isActive, isMocked, unresolvedRule } from '../state.ts';
import type { LifeState } from './life.ts';

/** @param life the state of its life cycle; null: it has none in this process */
export function shownState(space: Pick<Namespace, 'catalog' | 'clock'>, source: ObjectValue, life: LifeState | null): LifeState {
  const name = String(own(source, 'name'));
  const still = { since: life?.since ?? space.clock.now(), attempts: 0, nextAttemptAt: null, isUnavailable: false, error: null };
  const failed = ({ code, message }: { code: string; message: string }): LifeState => ({
    ...still,
    state: 'error',
    error: { code, message },
  });
  if (!isActive(source)) return { ...still, state: 'inactive' };
  const missing = unresolvedRule(space, source);
  if (missing !== null) return failed(apiError('cascade.source.pipeline.unresolved', name, `there is no rule ${missing} for its pipeline`));
  if (isMocked(source)) return { ...still, state: 'mocked' };
  if (!protocolOf(String(own(source, 'type')))?.open) return failed(apiError('cascade.source.connect.failed', name, noConnection(source)));
  return life ?? { ...still, state: 'connecting' };
}

export const noConnection = (source: ObjectValue): string => `this version has no connections of the type ${String(own(source, 'type'))}`;

/**
 * The answer of `GET /sources/<name>/_status` (integrations.md 1.8).
 * @param consumer the process that receives its messages; null: none does
 */
export function statusOf(
  source: ObjectValue,
  shown: LifeState,
  counts: Counts,
  consumer: { readonly process: string; readonly leaseUntil: number } | null,
): ObjectValue {
  const at = (ms: number | null): Value => (ms === null ? null : new DateTime(ms));
  const isOff = shown.state === 'inactive' || shown.state === 'mocked';
  return {
    name: own(source, 'name'),
    type: own(source, 'type'),
    health: shown.state === 'mocked' || shown.state === 'connected' ? 'healthy' : shown.state === 'inactive' ? 'inactive' : 'unhealthy',
    message: shown.error?.message ?? null,
    active: isActive(source),
    state: shown.state,
    since: at(shown.since),
    error: shown.error && { ...shown.error },
    attempts: shown.attempts,
    nextAttemptAt: at(shown.nextAttemptAt),
    isUnavailable: shown.isUnavailable,
    mockMode: isMocked(source),
    consumers: consumer && !isOff ? [{ process: consumer.process, leaseUntil: at(consumer.leaseUntil) }] : [],
    received: counts.received,
    published: counts.published,
    dropped: counts.dropped,
    failed: counts.failed,
    lastMessageAt: at(counts.lastMessageAt),
  };
}
