// The door of what several processes on one database tell each other: changes that others have committed, who leads a namespace, and events
// for whoever does.
export { ARRIVAL_TEXTS, Arrivals, ARRIVALS } from './arrivals.ts';
export { type Change, openChanges } from './changes.ts';
export { Leaders } from './leaders.ts';
