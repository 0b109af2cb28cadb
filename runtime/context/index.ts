// The door of runtime/context.
export {
  type Actor,
  ChildRunIds,
  type Enqueue,
  type Initiator,
  type ReadForChange,
  type ReadSet,
  RestartRun,
  type StepStore,
  type TurnToChange,
  checkpointing,
  startingAs,
  committing,
  withoutAnswers,
} from './actor.ts';
export { OwnChanges } from './own-changes.ts';
export { serviceActor } from './service-actor.ts';
export { STAGES, type Since, type Stage, type StageReached, reportCommitted, reportDelivered, sinceOf, timed } from './stages.ts';
