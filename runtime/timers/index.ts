// The door of timers/: the schedule of events at a time.
export { DueHeap } from './due-heap.ts';
export { afterDelivery, afterNewInterval, firstDelivery, MOST_TRANSIENT_MS, Past, Unplanned } from './plan.ts';
