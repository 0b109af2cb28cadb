// The door of procedures.
export { procedures } from './feature.ts';
export { callableOf, type KnownProcedure } from './procedures-kind.ts';
