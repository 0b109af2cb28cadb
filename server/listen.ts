// The listening socket and what is bound to it: opened last, closed first. A binding is a call on the app.
import type { us_listen_socket } from 'uWebSockets.js';
import type { Logger } from 'pino';
import { bindHttp, type CorsOrigins, openBinding, type Served } from './http/index.ts';
import { openMetrics, type Working } from './metrics.ts';
import { bindWebSocket, type WebSocketOptions } from './websocket/index.ts';

/** Open requests may take this long to end once the service is told to stop. */
const DRAIN_MS = 10_000;

/** Room for a URL a little beyond its limit of 16 KiB, so that it is refused in our words, and for the headers. */
const HEADER_BYTES = 64 * 1024;

/** LIBUS_LISTEN_EXCLUSIVE_PORT: else two services on one port would share its connections by chance. */
const EXCLUSIVE_PORT = 1;

/** A form of `listen` that the library has and its types have not. */
interface ExclusiveListening {
  listen(host: string, port: number, options: number, opened: (socket: us_listen_socket | false) => void): void;
}

export interface ListenOptions {
  /** What it says of its own work is told with the metrics. */
  engine: Served & Partial<Working>;
  log: Logger;
  /** 0: any free one. */
  port: number;
  /** Default: every address of this machine. */
  host?: string;
  corsOrigins?: CorsOrigins;
  /** Of one body, and of one WebSocket message. */
  bodyLimitBytes?: number;
  /** Of one request. */
  timeoutMs?: number;
  /** Whether the process's own figures (memory, processor, garbage collection, event loop) are told with the metrics. */
  measuresProcess?: boolean;
  /** Times of WebSockets, where they are not the usual ones. */
  webSocket?: Pick<WebSocketOptions, 'loginMs' | 'pingMs' | 'silenceSeconds' | 'heartbeatMs'>;
}

export interface Listener extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
}

/** @throws Error when the port is taken */
export async function listen({ engine, log, port, host = '0.0.0.0', ...options }: ListenOptions): Promise<Listener> {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(HEADER_BYTES); // read once, when the library is loaded: hence the import here
  const { App, us_listen_socket_close, us_socket_local_port } = await import('uWebSockets.js');
  const app = App();
  const { timeoutMs, bodyLimitBytes } = options;
  const sockets = bindWebSocket(app, { engine, log, timeoutMs, messageLimitBytes: bodyLimitBytes, ...options.webSocket });
  const { tally, load } = engine;
  const metrics = openMetrics(tally && load ? { tally, load } : undefined, options.measuresProcess);
  metrics.watch({ cascade_ws_connections: () => sockets.open, cascade_ws_subscriptions: () => sockets.subscriptions });
  const http = bindHttp(app, openBinding({ engine, log, timeoutMs, metrics }), { log, ...options });
  const socket = await new Promise<us_listen_socket>((resolve, reject) => {
    (app as unknown as ExclusiveListening).listen(host, port, EXCLUSIVE_PORT, (opened) => {
      if (opened) resolve(opened);
      else reject(new Error(`Port ${port} cannot be listened on: another program has it, or it is not yours to use.`));
    });
  });
  const actual = us_socket_local_port(socket);
  return {
    port: actual,
    url: `http://${host === '0.0.0.0' ? 'localhost' : host}:${actual}`,
    async [Symbol.asyncDispose]() {
      us_listen_socket_close(socket);
      await Promise.all([http.drain(DRAIN_MS), sockets.drain(DRAIN_MS)]);
      app.close();
    },
  };
}
