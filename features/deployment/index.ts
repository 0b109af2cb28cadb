// The door of deployment.
export { deployment } from './feature.ts';
