// The door of transactions/: the committer, through which everything changes the store, and recovery after a crash.

export { type SplitText, splitTextsOf, splitTexts, readTexts, removeTexts } from './split-texts.ts';
export { type Completion, readCompletion, writeCompletion } from './completion.ts';
export { Committer, type CommitterOptions, SLOTS } from './committer.ts';
export { runIdOf } from './journal.ts';
export { rootOf } from './types.ts';
export { inPieces } from './compaction.ts';
export { holdsEvents, rowOf, type StoredRow } from './row-form.ts';
export { opening, sealing, withEventTexts } from './sealing.ts';
export { closeEpochs, type UnfinishedRuns, openEpochs, readUnfinished, referencesIn, removeOldEnds, removeRows } from './recovery.ts';
export {
  type Answer,
  attemptOf,
  isRedelivered,
  type CausalChain,
  DocumentRefused,
  DuplicateKey,
  Fenced,
  keptAnswer,
  type LogEntry,
  QueueFull,
  type Read,
  type RunId,
  type RunReference,
  type Step,
  type StoredEvent,
  type Undecided,
  type UnitOfWork,
  VersionConflict,
  type Write,
} from './types.ts';
export { Pending } from './pending.ts';
export { keyOf } from './units.ts';
