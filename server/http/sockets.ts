// The HTTP binding on the sockets of uWebSockets.js. Its rules: a request is read before the handler returns, a response is not
// touched once its connection is gone (`sending.ts`). (It closes a connection whose client sends a second request before the first is
// answered; no client in the field does.)
import type { HttpRequest as SocketRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import type { Logger } from 'pino';
import { fault } from '../../runtime/faults.ts';
import { collectBody, inflate } from './body.ts';
import { errorReply } from './errors.ts';
import { type CorsOrigins, wireReply } from './headers.ts';
import { Connection } from './sending.ts';
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
  let open = 0;
  let draining = false;
  let drained = (): void => undefined;

  app.any('/*', (response, request) => {
    const begun = performance.now();
    const { http, body, isAmbiguous } = receive(response, request, bodyLimitBytes);
    const connection = new Connection(response, () => body.abort());
    open++;
    void respond()
      .catch((err: unknown) => {
        log.error({ err }, 'a reply could not be sent');
        connection.cut();
      })
      .finally(() => {
        open--;
        if (open === 0) drained();
      });

    async function respond(): Promise<void> {
      const reply = isAmbiguous ? errorReply(fault('cascade.request.body.invalid', 'two lengths', 0), log) : await answer(http);
      body.discard();
      const wire = await wireReply(http, reply, corsOrigins);
      await connection.send(wire, { isHead: http.method === 'HEAD', closes: draining || isAmbiguous });
      if (connection.isGone) return;
      // The path alone: the query may hold a token.
      log.debug({ method: http.method, path: http.path, status: wire.status, ms: performance.now() - begun }, 'request');
    }
  });

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

/** Everything of a request, at once. Ambiguous: it says two lengths, so that a proxy before us may see another request in it than we do. */
function receive(response: HttpResponse, request: SocketRequest, bodyLimitBytes: number) {
  const headers = new Map<string, string>();
  let isAmbiguous = false;
  request.forEach((name, value) => {
    if (!headers.has(name)) headers.set(name, value);
    else if (name === 'content-length' && headers.get(name) !== value) isAmbiguous = true;
  });
  const body = collectBody(response, bodyLimitBytes);
  const http: HttpRequest = {
    method: request.getCaseSensitiveMethod(),
    path: request.getUrl(),
    query: request.getQuery() ?? '',
    headers,
    // Asked for by logins alone, and before they wait for anything.
    get address() {
      return Buffer.from(response.getRemoteAddressAsText()).toString('latin1');
    },
    body: async () => inflate(await body.received, headers.get('content-encoding'), bodyLimitBytes),
  };
  return { http, body, isAmbiguous };
}
