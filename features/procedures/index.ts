// The door of procedures.
export { procedures } from './feature.ts';
export { type Callable, callableOf } from './procedures-kind.ts';
