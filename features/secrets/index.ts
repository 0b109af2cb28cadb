// Secrets of a namespace, for who may know them: the connections of sources. This is the folder's door.
export { secretNamed } from './secrets-kind.ts';
export { secrets } from './feature.ts';
