// The names of members as storage has them, along a path.
import { escapeKey } from '../values/index.ts';

/** The steps of a dotted path, each as it is stored. */
export const storedName = (path: string): string =>
  path.includes('_bsontype') || /[\0\u0001]/.test(path) ? path.split('.').map(escapeKey).join('.') : path;
