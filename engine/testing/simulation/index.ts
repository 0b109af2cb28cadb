// The simulated world: for tests of what survives a crash at any moment.
export { Simulation, type SimulationOptions } from './simulate.ts';
export { SimulatedStore } from './store.ts';
export { SimulatedTime } from './timers.ts';
export { World } from './world.ts';
