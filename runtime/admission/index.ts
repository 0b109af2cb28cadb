// The door of runtime/admission.
export { FairScheduler } from './fair-scheduler.ts';
