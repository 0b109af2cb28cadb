// The door of the schedule: what happens at a time.
export { DueHeap } from './due-heap.ts';
export { afterDelivery, afterNewInterval, firstDelivery, MOST_TRANSIENT_MS, Past, Unplanned } from './plan.ts';
