// User scalars (resources-and-api.md 4.2): base types with procedures that convert between the stored and the external form, and compare.
export { isConverted, isShownOtherwise, returned, shownOne, storedMembers, toShown, toShownMembers, toStored } from './convert.ts';
export type { Outcome } from './calls.ts';
export { type Holder, holds, uses } from './slots.ts';
export {
  actionFor,
  type Constant,
  convertsConstants,
  keyConstant,
  storedConstants,
  withConstraints,
  withOpenConstants,
} from './constraints.ts';
export { ofEach, type RowForm, writeRows, writeSeenRows } from './write-rows.ts';
export { type RankedOrder, rankedOrder } from './order.ts';
