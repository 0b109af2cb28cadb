// The door of store/: MongoDB in the simulated world.
export { INTERRUPTED, type Planted, SimulatedStore } from './store.ts';
