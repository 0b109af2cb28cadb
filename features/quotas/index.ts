// The door of features/quotas.
export { quotas } from './feature.ts';
