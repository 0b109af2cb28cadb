// The door of federation: statements that run on nodes.
export { FEDERATION, Federation } from './federation.ts';
export { type Carriage, type NodeAnswer, NodeClient, type NodeRequest } from './node-client.ts';
export { closeStatement, nextOfStatement, openStatement } from './operations.ts';
export { Outbox } from './outbox.ts';
export { provision } from './provisioning.ts';
export { federation } from './feature.ts';
