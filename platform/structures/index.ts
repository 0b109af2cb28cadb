// The door of platform/structures.
export { asError } from './as-error.ts';
export { type BoundedCache, boundedCache } from './bounded-cache.ts';
export { Fifo } from './fifo.ts';
export { LinkedList, type ListNode, unlinked } from './linked-list.ts';
export { type HistogramData, LogHistogram } from './log-histogram.ts';
export type { MaybePromise } from './maybe-promise.ts';
export { PerTurn } from './per-turn.ts';
export { finishInSlices, finishWithin, inSlices, longWork, nextSlice, resultsOf, sendsRequest, SLICE_MS } from './slices.ts';
export { TaskTracker } from './task-tracker.ts';
