// The door of groups.
export { groups } from './feature.ts';
export { membersOf } from './policy.ts';
