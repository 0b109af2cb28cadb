// An MQTT broker in the process of a test: plain, over TLS and over WebSocket. It records what clients connect with.
import { createServer, type Socket } from 'node:net';
import { createServer as createSecure } from 'node:tls';
import { createServer as createHttp } from 'node:http';
import { Aedes, type ConnectPacket } from 'aedes';
import { createWebSocketStream, WebSocketServer } from 'ws';
import type { Certificate } from '../../../testing/certificates.ts';
import { listening } from '../../../testing/listening.ts';

export interface MqttBroker extends AsyncDisposable {
  readonly aedes: Aedes;
  readonly port: number;
  /** The CONNECT packets of the clients, in order. */
  readonly connects: ConnectPacket[];
  /** Cuts all connections, as a crash would, and refuses new ones until `open`. */
  cut(): void;
  open(): void;
}

export async function openMqttBroker(kind: 'tcp' | 'tls' | 'ws' = 'tcp', certificate?: Certificate): Promise<MqttBroker> {
  const aedes = await Aedes.createBroker();
  const connects: ConnectPacket[] = [];
  const sockets = new Set<Socket>();
  let isOpen = true;
  aedes.preConnect = (_client, packet, done) => {
    connects.push(packet);
    done(null, true);
  };
  const handle = (socket: Socket): void => {
    if (!isOpen) return void socket.destroy();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    aedes.handle(socket);
  };
  const server =
    kind === 'ws'
      ? createHttp()
      : kind === 'tls'
        ? createSecure({ key: certificate!.key, cert: certificate!.cert }, handle)
        : createServer(handle);
  if (kind === 'ws') {
    const webSockets = new WebSocketServer({ server: server as ReturnType<typeof createHttp>, path: '/mqtt' });
    webSockets.on('connection', (socket) => aedes.handle(createWebSocketStream(socket)));
  }
  const { port, close } = await listening(server);
  return {
    aedes,
    port,
    connects,
    cut() {
      isOpen = false;
      for (const socket of sockets) socket.destroy();
    },
    open: () => (isOpen = true),
    async [Symbol.asyncDispose]() {
      await close();
      aedes.close();
    },
  };
}
