// Any number of nodes that are one small server: each login and each SELECT is answered at once, over HTTP and over WebSockets. What a statement on
// them costs is then the asking side's alone.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

const EXPIRES_MS = 86_400_000;

export interface SimulatedNodes extends AsyncDisposable {
  readonly port: number;
}

/** @param rows that each SELECT is answered with */
export async function openSimulatedNodes(rows: readonly object[]): Promise<SimulatedNodes> {
  const body = JSON.stringify(rows);
  const login = (): string => JSON.stringify({ accessToken: 'simulated', expiresAt: new Date(Date.now() + EXPIRES_MS).toISOString() });
  const server = createServer((request, response) => {
    const isLogin = request.url === '/authenticate';
    response.writeHead(200, { 'content-type': 'application/json', ...(!isLogin && { 'x-cascade-values': 'typed' }) });
    response.end(isLogin ? login() : body);
  });
  const sockets = new WebSocketServer({ server, path: '/api/v1/wsock/websocket' });
  sockets.on('connection', (socket: WebSocket) => {
    socket.on('message', (data: Buffer) => {
      const { op, parameters } = JSON.parse(data.toString()) as { op: string; parameters?: { requestId: string } };
      if (op === 'authenticate') return socket.send(`{"status":200,"body":${login()}}`);
      const headers = JSON.stringify({ 'X-Request-Id': parameters?.requestId, 'X-Cascade-Values': 'typed' });
      socket.send(`{"status":200,"headers":${headers},"contentType":"application/json","body":${body}}`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}
