// How often something came through each source of a namespace.
import { StateKey } from '../../resources/feature.ts';
import type { Namespace } from '../../resources/catalog/types.ts';
import type { SourceCounts } from './state.ts';

export const SOURCE_COUNTS = new StateKey<SourceCounts>('sources');
export const sourceCountsOf = (space: Pick<Namespace, 'states'>): SourceCounts => space.states.get(SOURCE_COUNTS);
