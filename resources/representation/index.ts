// The door of resources/representation: system properties, projections, patches and large results.
export { AHEAD_BYTES, keepOfRows, LARGE_RESULTS, readAhead } from './large-results.ts';
export { patchChanges } from './patch.ts';
export { projected } from './projection.ts';
export { editorOf, idOf, stampChanged, stampNew, versionOf } from './system-properties.ts';
