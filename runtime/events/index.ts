// The door of runtime/events.
export type { EventTakers, ReliableEvents } from './context.ts';
export { eventObject, eventObjectJson } from './event-object.ts';
export { type EventPath, LOGS_PATH, parseEventPath } from './event-path.ts';
export { keptValue } from './event-values.ts';
export { ASYNC, LONGEST_CHAIN, type Raising, asyncCall, asyncRun, instanceEvent, raise } from './events.ts';
export { Listeners } from './listeners.ts';
export type { Notice } from './notice.ts';
export { type IndexedProgram, bindsOn, programIn, referenceOf } from './references.ts';
export { keepStoredForm, known, storedFormOf, storedMembersIn, valueOf, withStoredMembers } from './stored-forms.ts';
export { DEEPEST_VALUE, type Made, type Present, type Shown, type Sight, Subscribers, hasMembers } from './subscribers.ts';
