// The door of messages to people.
export { settleHandOver } from './hand-over.ts';
