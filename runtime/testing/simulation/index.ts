// The simulated world: for tests of what survives a crash at any moment.
export { type Program, type Request, type Rule, SimulatedService, typesOf } from './service.ts';
export { SimulatedStore, type Planted } from './store.ts';
export { type Life, World } from './world.ts';
