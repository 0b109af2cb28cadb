// The door of what makes several processes one service: who owns a namespace is asked for it, wherever a request came in.
export { OwnedElsewhere } from './elsewhere.ts';
export { Rebalancer } from './rebalancer.ts';
export { Forwarding, type LocalEngine } from './forwarding.ts';
export { Routes } from './routes.ts';
