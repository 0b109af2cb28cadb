// The door of outgoing connections: all of them are opened here, to addresses that were checked.
export { type ConnectTarget, Egress, type EgressOptions, type Outlet } from './egress.ts';
export { EgressError, type EgressFailure, reasonOf } from './errors.ts';
export { Lookups } from './lookups.ts';
export { Networks } from './networks.ts';
export { AnswerRoom, MOST_VALUES, ReceivedBudget, type ReceivedLimits, receivedLimits } from './received.ts';
export { readStore, storeFault } from './pkcs12.ts';
export { faultyTls, isNamedSecret, keyOf, TLS_FIELDS, tlsOptions } from './tls-options.ts';
export type { Proxy } from './tunnel.ts';
export { NoWebSocket, openWebSocket, type OutgoingSocket, type WebSocketListener, type WebSocketTarget } from './web-socket.ts';
