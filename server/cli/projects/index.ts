// Project files into a running service and out of it. This is the folder's door.
export { diffProject } from './diff.ts';
export { exportProject } from './export.ts';
export { importProject } from './import.ts';
