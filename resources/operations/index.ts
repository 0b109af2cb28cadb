// The door of resources/operations: the requests of programs.
export { adminOnly, nameList, outOfRange, own, sourceNamed, timeAfter } from './arguments.ts';
export { typeName } from './payload.ts';
export { changeAtOnce, perform } from './perform.ts';
