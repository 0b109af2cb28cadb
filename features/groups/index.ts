// The door of features/groups.
export { groups } from './feature.ts';
