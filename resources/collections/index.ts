// The door of resources/collections: where instances of types are stored, with their indexes, and what is taken out of them in the background.
export { trimCapped } from './capped.ts';
export { INDEX_BUILDS, IndexBuilds, buildAfter, buildBefore, indexBuildsOf, resumeBuilds } from './index-builds.ts';
export { addedBy, ensureCollection, removeInBackground, removeValues, resumeRemovals } from './type-storage.ts';
