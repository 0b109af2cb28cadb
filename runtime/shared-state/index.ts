// The door of the state room: what services keep between calls, and what several runs hold at one time.
export type { StateProperties, StateProperty } from './cells.ts';
export { handleOf, storedValue, type StoredValue, kindOf, NOTHING, type SharedRef, valueOf } from './stored-value.ts';
export type { StateEnvironment } from './shared-map.ts';
export { type ServiceState, StateStore, type StateUser } from './state-store.ts';
