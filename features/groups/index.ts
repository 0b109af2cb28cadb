// The door of groups.
export { groups } from './feature.ts';
