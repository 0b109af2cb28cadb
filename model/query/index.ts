// The door of the conditions: where-objects, sort orders and property lists, checked, for the store and in memory.
export { type FilterOptions, toFilter } from './filter.ts';
export { compareUtf8, exactDecimal, withoutSystem } from './compare.ts';
export { distance, geometryOf, intersects, within } from '../../stdlib/geo/index.ts';
export { type InstanceQuery, instanceQuery, namedPath } from './instance-query.ts';
export { withinBudget, dataOf, hostBounds, BudgetExceeded, withAllowance, withAnswers, type DeferredCall } from './host-budget.ts';
export { type Leaves, leavesThrough, plainValue } from './leaves.ts';
export { areFew, Lookup } from './lookup.ts';
export { matches, passes, passesValue } from './matches.ts';
export { parseTest, parseWhere, requireModest, parseWhereIn } from './parse.ts';
export { dataScope, instanceScope, isSecret, type Scope } from './path.ts';
export { parseProps, toProjection } from './props.ts';
export { parseSort, type SortKey, toSort } from './sort.ts';
export { substitute, toStoredForm } from './substitutions.ts';
export type { Condition, ConditionContext, ConditionPath, Constant, Kind, Predicate, Test } from './types.ts';
