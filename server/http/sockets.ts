// The HTTP binding on the sockets of uWebSockets.js. Its rules: a request is read before the handler returns, a response is not
// touched once its connection is gone (`sending.ts`). (It closes a connection whose client sends a second request before the first is
// answered; no client in the field does.)
import type { HttpRequest as SocketRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import type { Logger } from 'pino';
import { fault } from '../../runtime/faults.ts';
import type { Soon } from '../../runtime/soon.ts';
import { Body, inflate } from './body.ts';
import { errorReply } from './errors.ts';
import { type CorsOrigins, type WireReply, wireReply } from './headers.ts';
import { Connection } from './sending.ts';
import { Turns } from './turns.ts';
import type { HttpReply, HttpRequest } from './types.ts';

export interface SocketOptions {
  log: Logger;
  /** Default `*`. */
  corsOrigins?: CorsOrigins;
  /** Of one body, as sent and as inflated; default 10 MiB. */
  bodyLimitBytes?: number;
}

export interface HttpSockets {
  /** Requests being answered. */
  readonly open: number;
  /** From now on each answer ends its connection. Resolves when no request is open, or when the time is up. */
  drain(timeoutMs: number): Promise<void>;
}

/** Answers every HTTP request of the app. */
export function bindHttp(
  app: TemplatedApp,
  answer: (http: HttpRequest) => Promise<HttpReply>,
  { log, corsOrigins = '*', bodyLimitBytes = 10 * 1024 * 1024 }: SocketOptions,
): HttpSockets {
  const isVerbose = log.isLevelEnabled('debug');
  let open = 0;
  let draining = false;
  let drained = (): void => undefined;
  /** Of this turn of the event loop: those of whose body nothing has come yet are answered at its end, whatever their answer is. */
  let arrived: Received[] = [];
  const beginArrived = (): void => {
    const all = arrived;
    arrived = [];
    for (const one of all) one.begin();
  };
  const turns = new Turns<Received>((received) => void respond(received));

  app.any('/*', (response, request) => {
    open++;
    if (arrived.length === 0) setImmediate(beginArrived);
    arrived.push(
      new Received(response, request, bodyLimitBytes, (received) => turns.take(received.headers.get('authorization') ?? '', received)),
    );
  });

  /** Never rejects. */
  async function respond(http: Received): Promise<void> {
    const { connection } = http;
    try {
      const reply = http.isAmbiguous ? errorReply(fault('cascade.request.body.invalid', 'two lengths', 0), log) : await answer(http);
      http.discard();
      const soon = wireReply(http, reply, corsOrigins);
      const wire: WireReply = soon instanceof Promise ? await soon : soon;
      const sent = connection.send(wire, { isHead: http.method === 'HEAD', closes: draining || http.isAmbiguous });
      if (sent) await sent;
      // The path alone: the query may hold a token.
      if (isVerbose && !connection.isGone)
        log.debug({ method: http.method, path: http.path, status: wire.status, ms: performance.now() - http.begunAt }, 'request');
    } catch (err) {
      log.error({ err }, 'a reply could not be sent');
      connection.cut();
    }
    open--;
    if (open === 0) drained();
  }

  return {
    get open() {
      return open;
    },
    async drain(timeoutMs) {
      draining = true;
      if (open === 0) return;
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        drained = resolve;
        timer = setTimeout(resolve, timeoutMs);
      });
      clearTimeout(timer);
    },
  };
}

/** A request as it came. Its answer begins when all of its body is there, or is seen not to be there yet. */
class Received implements HttpRequest {
  readonly begunAt = performance.now();
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly connection: Connection;
  /** It says two lengths, so that a proxy before us may see another request in it than we do. */
  readonly isAmbiguous: boolean;
  readonly #response: HttpResponse;
  readonly #limitBytes: number;
  readonly #body: Body;
  #onBegin: ((received: Received) => void) | null;

  constructor(response: HttpResponse, request: SocketRequest, bodyLimitBytes: number, onBegin: (received: Received) => void) {
    const headers = new Map<string, string>();
    let isAmbiguous = false;
    request.forEach((name, value) => {
      if (!headers.has(name)) headers.set(name, value);
      else if (name === 'content-length' && headers.get(name) !== value) isAmbiguous = true;
    });
    this.headers = headers;
    this.isAmbiguous = isAmbiguous;
    this.method = request.getCaseSensitiveMethod();
    this.path = request.getUrl();
    this.query = request.getQuery() ?? '';
    this.#response = response;
    this.#limitBytes = bodyLimitBytes;
    this.#onBegin = onBegin;
    this.#body = new Body(response, bodyLimitBytes, () => this.begin());
    this.connection = new Connection(response, () => this.#body.abort());
  }

  /** Asked for by logins alone, and before they wait for anything. */
  get address(): string {
    return Buffer.from(this.#response.getRemoteAddressAsText()).toString('latin1');
  }

  body(): Soon<Uint8Array> {
    const received = this.#body.received();
    const encoding = this.headers.get('content-encoding');
    if (received instanceof Promise) return received.then((bytes) => inflate(bytes, encoding, this.#limitBytes));
    return inflate(received, encoding, this.#limitBytes);
  }

  discard(): void {
    this.#body.discard();
  }

  begin(): void {
    const begin = this.#onBegin;
    this.#onBegin = null;
    begin?.(this);
  }
}
