// The door of features/scalars.
export { scalars } from './feature.ts';
export { loadScalars } from './scalars-kind.ts';
