// The state of a source as everybody sees it: its definition decides, then its life cycle.
import { apiError } from '../../../model/errors/index.ts';
import type { Namespace } from '../../../resources/catalog/index.ts';
import type { ObjectValue } from '../../../stdlib/values/index.ts';
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
