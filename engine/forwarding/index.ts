// The door of forwarding/, which makes several processes one service: each request goes to the owner of its namespace, wherever it came in.
export { OwnedElsewhere } from './elsewhere.ts';
export { Rebalancer } from './rebalancer.ts';
export { Forwarding, type LocalEngine } from './forwarding.ts';
export { Routes } from './routes.ts';
export { failureHead, failureOf } from './codec.ts';
export { FollowedSubscriptions } from './subscriptions.ts';
