// The schedule of a namespace.
import { StateKey } from '../../resources/states.ts';
import type { Namespace } from '../../resources/catalog/index.ts';
import type { Schedule } from './schedule.ts';

export const SCHEDULE = new StateKey<Schedule>('schedules');
export const scheduleOf = (space: Pick<Namespace, 'states'>): Schedule => space.states.get(SCHEDULE);
