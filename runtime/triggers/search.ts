import { regexSearch } from '../../stdlib/operators/index.ts';
import type { Value } from '../../stdlib/values/index.ts';
import { withinBudget, hostBounds } from '../../model/query/index.ts';

/** The search `s regex p` of a condition. @throws {BudgetExceeded} */
export const searchAtHost = (s: Value, pattern: Value): boolean =>
  withinBudget({ builtin: null, args: [s, pattern] }, () => regexSearch(s, pattern, hostBounds));
