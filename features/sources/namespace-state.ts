// The state of a namespace's sources in this process.
import { StateKey } from '../../resources/states.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import type { Sources } from './sources.ts';

export const SOURCES_STATE = new StateKey<Sources>('sources');
export const sourcesOf = (space: Pick<Namespace, 'states'>): Sources => space.states.get(SOURCES_STATE);
