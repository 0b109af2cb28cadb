// The door of fleet/: a simulated fleet of nodes, for tests of statements on them.
export { FleetSimulation, type FleetOptions, type PlantedFault } from './simulate.ts';
