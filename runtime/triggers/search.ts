// The operators of conditions that may take long: what would take too long is asked elsewhere (host-budget.ts).
import { geo, regexSearch } from '../../stdlib/operators/index.ts';
import type { Value } from '../../stdlib/values/index.ts';
import { withinBudget, hostBounds } from '../../model/query/index.ts';

/** The search `s regex p` of a condition. @throws {BudgetExceeded} */
export const searchAtHost = (s: Value, pattern: Value): boolean =>
  withinBudget({ builtin: null, args: [s, pattern] }, () => regexSearch(s, pattern, hostBounds));

/** `a geowithin b` and its like: outlines may have thousands of edges. */
export const geoAtHost =
  (operator: 'geonear' | 'geointersects' | 'geowithin') =>
  /** @throws {BudgetExceeded} */
  (a: Value, b: Value): boolean =>
    withinBudget({ builtin: null, operator, args: [a, b] }, () => geo(operator, a, b, hostBounds));
