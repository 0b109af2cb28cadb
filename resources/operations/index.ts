// The door of resources/operations: the requests of programs.
export { endedBy } from './ended.ts';
export { adminOnly, nameList, outOfRange, own, sourceNamed, timeAfter, userList } from './arguments.ts';
export { typeName } from './payload.ts';
export { changeAtOnce, perform } from './perform.ts';
export { noteFailure, outcome } from './on-error.ts';
export { present } from './present.ts';
