// The door of profiles.
export { profiles } from './feature.ts';
