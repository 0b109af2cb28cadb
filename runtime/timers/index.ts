// The door of timers/: the schedule of events at a time.
export type { Calendar } from './calendar.ts';
export { DueHeap } from './due-heap.ts';
export { afterDelivery, afterNewPeriod, firstDelivery, MOST_TRANSIENT_MS, type Period, type Wanted } from './plan.ts';
export { BadPattern, NeverDue, Past, UnknownZone, Unplanned } from './unplanned.ts';
