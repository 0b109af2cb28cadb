// What the suite, the examples and the benchmarks share: a service of their own as a child process, a client of its REST API, and JSON
// whose numbers keep their text. Nothing here knows the inside of the service.
export { isNumber, type Json, JsonNumber, type JsonObject, parseJson, toJsonText } from './exact-json.ts';
export { type Reply, type RequestOptions, RestClient } from './rest-client.ts';
export { requestIdOf, type Sender, SocketBinding } from './socket-binding.ts';
export { SocketClient, type SocketFraming, type SocketMessage } from './socket-client.ts';
export { NEEDS_MORE, type StartedPrograms, startPrograms } from './programs.ts';
export { type StartedService, startService } from './service.ts';
