// The door of schedules.
export { schedules } from './feature.ts';
export { scheduleOfStatement } from './scheduledevents-kind.ts';
export { SCHEDULE, scheduleOf } from './namespace-state.ts';
export { Schedule } from './schedule.ts';
