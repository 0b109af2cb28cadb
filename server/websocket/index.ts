// The door of websocket/: WebSocket, raw and in SockJS's framing (resources-and-api.md 2.15 to 2.17, 8.4).
export { asyncApiText } from './asyncapi/index.ts';
export { bindWebSocket, type WebSocketOptions, type WebSockets } from './sockets.ts';
