// What the suite, the examples and the benchmarks share: a service of their own as a child process, and the client of the case runner.
export {
  isNumber,
  type Json,
  JsonNumber,
  type JsonObject,
  parseJson,
  type Reply,
  requestIdOf,
  type RequestOptions,
  RestClient,
  type Sender,
  SocketBinding,
  SocketClient,
  type SocketFraming,
  type SocketMessage,
  toJsonText,
} from '../../case-runner/client/index.ts';
export { NEEDS_MORE, type StartedPrograms, startPrograms } from './programs.ts';
export { type StartedService, startService } from './service.ts';
