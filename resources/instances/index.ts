// The door of resources/instances: reading and changing instances of types.
export { atomically, changedInTurn } from './atomically.ts';
export { decided, hasRulesBefore } from './before.ts';
export type { Failed } from './bulk.ts';
export { computedIn, updateComputed } from './computed-change.ts';
export { CURSORS, type WalkPage } from './cursors/index.ts';
export { deleteMany, deleteOne, goingAlong } from './delete.ts';
export { addressesOf, DEPENDENTS, entriesOfDependent, indexDependents, masterOf } from './dependents.ts';
export {
  condition,
  conditionAsked,
  filterOfId,
  notFound,
  notFoundBy,
  read,
  readAt,
  readById,
  remember,
  storedAt,
  storedBy,
} from './find.ts';
export { convertedInserts, type ReadyInsert, insertAtOnce, insertInPieces, insertMany, insertOne, mustBeObject } from './insert.ts';
export { innerText, innerValue, instanceIn, LONG_TEXT } from './in-pieces.ts';
export { upsertKeys } from './natural-key.ts';
export { followedInstance } from './pending-instances.ts';
export { asApiError, duplicateOf, tooFull } from './refusals.ts';
export { type ProgramQuery, type Selected, mostRowsOf, pageOf, selectPage, selectPages, selectRows } from './select.ts';
export { refusalOf } from './stale-writes.ts';
export { changeOf, type Locked, updateOne, versionIn } from './update.ts';
export { updateMany } from './update-many.ts';
export { upsertOne } from './upsert.ts';
