// The door of messages to people.
export { publishNotification } from './direct.ts';
export { settleHandOver } from './hand-over.ts';
