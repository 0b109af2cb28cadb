// The state of a namespace's reliable events.
import { StateKey } from '../../resources/states.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import type { Deliveries } from './deliveries.ts';

export const DELIVERIES_STATE = new StateKey<Deliveries>('delivery');
export const deliveriesOf = (space: Pick<Namespace, 'states'>): Deliveries => space.states.get(DELIVERIES_STATE);
