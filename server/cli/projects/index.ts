// The door of projects/: project files into a running service and out of it.
export { diffProject } from './diff.ts';
export { exportProject } from './export.ts';
export { importProject } from './import.ts';
