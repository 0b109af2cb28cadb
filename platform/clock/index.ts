// The door of the clock: what time it is for rules, and timers that follow it.
export type { Clock, Timer } from './types.ts';
export { longTimeout } from './long-timeout.ts';
export { openSharedClock } from './shared-clock.ts';
export { sinceBoot } from './since-boot.ts';
export { systemClock } from './system-clock.ts';
export { VirtualClock } from './virtual-clock.ts';
