// How the sandbox process is shut in by the operating system: whoever breaks out of an isolate, and has native code run in that process, finds
// no files, no network, no other processes and no way to start one. This index is the folder's door.
export { announce } from './announce.ts';
export { chainOf, type Confinement, openConfinement } from './confinement.ts';
export { LEVELS, type Level } from './levels.ts';
export { endOrphans } from './orphans.ts';
