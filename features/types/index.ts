// The door of features/types.
export { dropOrphans, undoHalfRenames } from './collections.ts';
export { types } from './feature.ts';
export { loadTypes } from './load-types.ts';
export { loadType } from './types-kind.ts';
