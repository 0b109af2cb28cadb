// The door of shared-state/: the state that services keep between calls, and the objects that several runs share.
export type { StateProperties, StateProperty } from './cells.ts';
export { handleOf, storedValue, type StoredValue, kindOf, NOTHING, type SharedRef, valueOf } from './stored-value.ts';
export type { StateEnvironment } from './shared-map.ts';
export { type ServiceState, StateStore, type StateUser } from './state-store.ts';
