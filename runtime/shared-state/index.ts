// The door of the state room: what services keep between calls, and what several runs hold at one time.
export type { StateProperties, StateProperty } from './cells.ts';
export { handleOf, held, type Held, kindOf, NOTHING, type SharedObject, valueOf } from './held.ts';
export type { Surroundings } from './shared-map.ts';
export { type ServiceState, StateRoom, type StateUser } from './room.ts';
