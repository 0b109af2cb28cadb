// The door of runs that end only with their mark in the journal.
export { DurableRun } from './durable-run.ts';
