// The implemented outbound events of a namespace's services.
import { StateKey } from '../../resources/states.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import type { ImplementedEvents } from './implemented-events.ts';

export const IMPLEMENTED_EVENTS = new StateKey<ImplementedEvents>('services');
export const implementedEventsOf = (space: Pick<Namespace, 'states'>): ImplementedEvents => space.states.get(IMPLEMENTED_EVENTS);
