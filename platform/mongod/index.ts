// The embedded database: one mongod on a folder of ours, found or fetched, started or adopted, watched, and stopped at the end.
// What is stored in it is platform/mongo's business.
export { findMongod } from './binary.ts';
export { openEmbeddedMongod } from './supervisor.ts';
export type { EmbeddedMongod, EmbeddedMongodOptions } from './supervisor.ts';
