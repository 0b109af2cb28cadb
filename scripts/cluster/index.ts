// The door of real installations of several processes, for tests and benchmarks.
export { openInstallation } from './installation.ts';
