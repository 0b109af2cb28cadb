// The state of a namespace's sources in this process.
import { StateKey } from '../../resources/states.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import type { Sources } from './sources.ts';

export const SOURCES_STATE = new StateKey<Sources>('sources');
export const sourcesOf = (space: Pick<Namespace, 'states'>): Sources => space.states.get(SOURCES_STATE);

/** The active sources of a namespace, and whether each is ready. */
export function sourcesUp(space: Pick<Namespace, 'catalog' | 'name' | 'states'>): { namespace: string; source: string; isUp: boolean }[] {
  return space.catalog.definitions.list('sources').flatMap(([source, stored]) => {
    const { state } = sourcesOf(space).stateOf(stored);
    return state === 'inactive' ? [] : [{ namespace: space.name, source, isUp: state === 'mocked' || state === 'connected' }];
  });
}
