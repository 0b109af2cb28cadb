// The door of quotas.
export { quotas } from './feature.ts';
