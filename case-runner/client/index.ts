// A client of the API over HTTP and WebSocket, and JSON whose numbers keep their text. Nothing here knows the inside of the service.
export { isNumber, type Json, JsonNumber, type JsonObject, parseJson, toJsonText } from './exact-json.ts';
export { type Reply, type RequestOptions, RestClient } from './rest-client.ts';
export { requestIdOf, type Sender, SocketBinding } from './socket-binding.ts';
export { SocketClient, type SocketFraming, type SocketMessage } from './socket-client.ts';
