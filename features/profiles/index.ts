// The door of features/profiles.
export { profiles } from './feature.ts';
