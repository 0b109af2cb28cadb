// The door of secrets, for the connections of sources.
export { secretNamed } from './secrets-kind.ts';
export { secrets } from './feature.ts';
