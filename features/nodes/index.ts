// The door of nodes: their records, conditions on them, and their credentials.
export { nodeCredentials, type NodeCredentials, nodeOptions } from './credentials.ts';
export { NODE_SHAPE, nodeConditionFault, nodesThat, shownNode } from './conditions.ts';
export { NODES_OUTLET } from './outlet.ts';
export { nodes } from './feature.ts';
