// The door of simulation/: the simulated world, for tests of crashes at any moment.
export { CRASH_POINTS } from './crash-points.ts';
export { Simulation, type SimulationOptions } from './simulate.ts';
export { SimulatedStore } from './store/index.ts';
export { SimulatedTime } from './timers.ts';
export { World } from './world.ts';
