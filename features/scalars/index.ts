// The door of scalars.
export { scalars } from './feature.ts';
export { loadScalars } from './scalars-kind.ts';
