// The door of features/collaboration.
export { collaboration } from './feature.ts';
