import { regexSearch } from '../../stdlib/operators/index.ts';
import type { Value } from '../../stdlib/values/index.ts';
import { atHost, hostBounds } from '../../model/query/index.ts';

/** `s regex p` of a condition. @throws {TooMuch} */
export const searchAtHost = (s: Value, pattern: Value): boolean =>
  atHost({ builtin: null, args: [s, pattern] }, () => regexSearch(s, pattern, hostBounds));
