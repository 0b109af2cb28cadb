// The door of federation: statements that are carried out on nodes.
export { FEDERATION, Federation } from './federation.ts';
export { Outbox } from './outbox.ts';
export { provision } from './provisioning.ts';
