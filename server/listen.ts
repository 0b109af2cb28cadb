// Opens the listening socket and binds the protocols to it: it is opened last and closed first.
import { isIPv6 } from 'node:net';
import type { Logger } from 'pino';
import type { Health } from '../resources/api.ts';
import {
  BODY_LIMIT_BYTES,
  bindHttp,
  type Budget,
  clientAddressBehind,
  type CorsOrigins,
  openBinding,
  requestBudget,
  RoundRobinQueue,
  type Served,
  type TrustedProxies,
} from './http/index.ts';
import { openMetrics, type Working } from './metrics.ts';
import { openTransport, type TransportKind } from './transport/index.ts';
import { asyncApiText, bindWebSocket, type WebSocketOptions } from './websocket/index.ts';

/** Time that open requests have to end once the service stops. */
const DRAIN_MS = 10_000;

const FALLBACK = "uWebSockets.js does not load on this machine: Node's own HTTP server is used (--http node), which is slower";

export interface ListenOptions {
  /** The engine; its own figures are part of the metrics. */
  engine: Served & Partial<Working>;
  log: Logger;
  /** The port; 0: any free one. */
  port: number;
  /** The address to listen on; default: every address of this machine. */
  host?: string | undefined;
  /** The HTTP library; absent: uWebSockets.js where it can be loaded, else Node's own. */
  http?: TransportKind | undefined;
  /** Called when Node's own is used without having been asked for. */
  onFallback?: (text: string) => void;
  /** Trusted proxies; absent: the peer of a connection is the client. */
  trustedProxies?: TrustedProxies | undefined;
  corsOrigins?: CorsOrigins | undefined;
  /** Bound of one body, and of one WebSocket message. */
  bodyLimitBytes?: number | undefined;
  /** The budget for bodies and messages of all clients; of the usual size when absent. */
  budget?: Budget;
  /** Bound of one uploaded document. */
  documentLimitBytes?: number | undefined;
  /** Time limit of one request. */
  timeoutMs?: number;
  /** Whether the metrics include those of the process (memory, processor, garbage collection, event loop). */
  measuresProcess?: boolean;
  /** Times and bounds of WebSockets, where they differ from the defaults. */
  webSocket?: Pick<WebSocketOptions, 'unknown' | 'kept' | 'loginMs' | 'pingMs' | 'silenceSeconds' | 'heartbeatMs'>;
}

export interface Listener extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
}

/** @throws Error when the port is in use, or a library cannot be loaded */
export async function listen({
  engine,
  log,
  port,
  host = '0.0.0.0',
  http: kind,
  trustedProxies,
  ...options
}: ListenOptions): Promise<Listener> {
  const transport = await openTransport(kind, (err) => {
    log.warn({ err }, FALLBACK);
    options.onFallback?.(FALLBACK);
  });
  const { timeoutMs, bodyLimitBytes } = options;
  const clientOf = trustedProxies === undefined ? undefined : clientAddressBehind(trustedProxies);
  const budget = options.budget ?? requestBudget(bodyLimitBytes ?? BODY_LIMIT_BYTES);
  const turns = new RoundRobinQueue();
  const socketOptions = { engine, log, timeoutMs, messageLimitBytes: bodyLimitBytes, budget, turns, clientOf, ...options.webSocket };
  const sockets = bindWebSocket(transport, socketOptions);
  const { counters, load } = engine;
  const metrics = openMetrics(counters && load ? { counters, load } : undefined, options.measuresProcess);
  metrics.watch({ cascade_ws_connections: () => sockets.open, cascade_ws_subscriptions: () => sockets.subscriptions });
  let isDraining = false;
  const health = (): Health => (isDraining ? { ready: false, status: 'draining' } : engine.health());
  const { documentLimitBytes } = options;
  const binding = openBinding({ engine, log, timeoutMs, metrics, health, documentLimitBytes, describeSockets: asyncApiText, turns });
  const http = bindHttp(transport, binding, { log, clientOf, ...options, budget, turns });
  const actual = await transport.listen(host, port);
  return {
    port: actual,
    url: urlOf(host, actual),
    async [Symbol.asyncDispose]() {
      isDraining = true;
      const drained = http.drain(DRAIN_MS, sockets.drain(DRAIN_MS));
      await transport.stopListening();
      await drained;
      await transport.close();
    },
  };
}

/** The address that this machine reaches the service by. @param host what it listens on: all addresses, or one */
export function urlOf(host: string, port: number): string {
  if (host === '0.0.0.0' || /^[0:]+$/.test(host)) return `http://localhost:${port}`;
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
