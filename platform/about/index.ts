// The door of what the installation is: its build and its address.
export { type About, type Build, readBuild } from './about.ts';
export { availableMemory } from './memory.ts';
