// The door of http/: HTTP from the sockets to the engine and back (resources-and-api.md 1, 2, 6).
export { sessionBody } from './authentication.ts';
export { BODY_LIMIT_BYTES, Budget, requestBudget, subscriptionBudget } from './budget.ts';
export { type BindingOptions, openBinding, type Served, within } from './binding.ts';
export { readBody, SHORT_BYTES } from './read-body.ts';
export { type ClientAddress, clientAddressBehind, peerOf, type TrustedProxies } from './client-address.ts';
export { Deadlines } from './deadlines.ts';
export { countedRefusal, errorReply } from './errors.ts';
export { exampleOf as errorExample, SHARED_SCHEMAS } from './openapi/components.ts';
export { describedParameter } from './openapi/query-parameters.ts';
export type { CorsOrigins } from './headers.ts';
export { partsOf } from './sending.ts';
export { type ParameterName, parameterValues } from './parameters.ts';
export { endsWithCaller, federationIn, typedRequest } from './resources.ts';
export { RoundRobinQueue } from './round-robin-queue.ts';
export { bindHttp, type HttpSockets, type SocketOptions } from './sockets.ts';
