// The door of features/deployment.
export { deployment } from './feature.ts';
