// Connects the HTTP binding with the sockets: requests as they arrive, replies on their connections (`sending.ts`), and the end of both.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { apiError } from '../../model/errors/index.ts';
import type { MaybePromise } from '../../platform/structures/index.ts';
import type { Exchange, Transport } from '../transport/index.ts';
import { Body } from './body.ts';
import { inflated } from '../../resources/requests/index.ts';
import { BODY_LIMIT_BYTES, type Budget, requestBudget } from './budget.ts';
import { type ClientAddress, peerOf } from './client-address.ts';
import { errorReply } from './errors.ts';
import { type CorsOrigins, type WireReply, wireReply } from './headers.ts';
import { isMultipart } from './multipart.ts';
import { Connection } from './sending.ts';
import { RoundRobinQueue } from './round-robin-queue.ts';
import type { HttpReply, HttpRequest, RequestHeaders } from './types.ts';

/** Tokens and codes of invitations, which paths name them by. */
const SECRETS = /\bcs[sti](?:_|%5F)[\w%-]{20,}/gi;

/** While the service stops, the time without data after which a connection counts as waiting for its next request, and may be ended. */
const QUIET_MS = 400;

export interface SocketOptions {
  log: Logger;
  /** Origins that browsers may call from; default `*`. */
  corsOrigins?: CorsOrigins;
  /** Bound of one body, as sent and as inflated; default 10 MiB. */
  bodyLimitBytes?: number;
  /** Finds the address of the client behind a peer. */
  clientOf?: ClientAddress;
  /** The budget for the bodies of all requests; one of its own when absent. */
  budget?: Budget;
  /** What begins requests in their turn; one of its own when absent. */
  turns?: RoundRobinQueue;
}

export interface HttpSockets {
  /** Number of requests being answered. */
  readonly open: number;
  /**
   * From now on each answer ends its connection. Resolves when no request is open and none has come for a while, so that the remaining
   * connections only wait for a next request; or when the time is up.
   * @param others further work that ends in the same time; requests that arrive meanwhile are answered
   */
  drain(timeoutMs: number, others: Promise<void>): Promise<void>;
}

/** Answers every HTTP request. */
export function bindHttp(transport: Transport, answer: (http: HttpRequest) => Promise<HttpReply>, options: SocketOptions): HttpSockets {
  const { log, corsOrigins = '*', bodyLimitBytes = BODY_LIMIT_BYTES, clientOf = peerOf } = options;
  const { budget = requestBudget(bodyLimitBytes), turns = new RoundRobinQueue() } = options;
  const isVerbose = log.isLevelEnabled('debug');
  let open = 0;
  let draining = false;
  let drained = (): void => undefined;
  let lastCameAt = 0;
  /** Requests of this turn of the event loop whose body has not begun to arrive: they are answered at its end, whatever the answer is. */
  let arrived: Received[] = [];
  const beginArrived = (): void => {
    const all = arrived;
    arrived = [];
    for (const one of all) one.begin();
  };
  transport.serve((exchange) => {
    open++;
    if (draining) lastCameAt = performance.now();
    if (arrived.length === 0) setImmediate(beginArrived);
    arrived.push(
      new Received(exchange, bodyLimitBytes, clientOf, budget, (received) =>
        turns.take(received.headers.get('authorization') ?? '', () => void respond(received)),
      ),
    );
  });

  /** Never rejects. */
  async function respond(http: Received): Promise<void> {
    const { connection } = http;
    const client = isVerbose && !connection.isGone ? http.address : undefined; // before the answer: the address is unknown afterwards
    try {
      const reply = http.hasTwoLengths ? errorReply(apiError('cascade.request.body.invalid', 'two lengths', 0), log) : await answer(http);
      const { isUnread } = http; // a client that goes on sending a body that nobody reads is cut off
      http.discard();
      const pending = wireReply(http, reply, corsOrigins);
      const wire: WireReply = pending instanceof Promise ? await pending : pending;
      const sent = connection.send(wire, { isHead: http.method === 'HEAD', closes: draining || http.hasTwoLengths || isUnread });
      if (sent) await sent;
      // The log has the path alone: the query may contain a token. That of a token or invitation does.
      if (isVerbose && !connection.isGone)
        log.debug(
          { method: http.method, path: http.path.replace(SECRETS, '…'), client, status: wire.status, ms: performance.now() - http.begunAt },
          'request',
        );
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
    async drain(timeoutMs, others) {
      draining = true;
      lastCameAt = performance.now();
      const until = lastCameAt + timeoutMs;
      await others;
      for (let now = performance.now(); now < until; now = performance.now()) {
        // Timers come before sockets in a turn of the event loop: the end of this turn has read the requests that arrived while the process
        // was blocked.
        await nextTurn();
        const quietMs = lastCameAt + QUIET_MS - now;
        if (open === 0 && quietMs <= 0) return;
        const waitMs = open === 0 ? quietMs : until - now;
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          drained = resolve;
          timer = setTimeout(resolve, Math.min(waitMs, until - now));
        });
        clearTimeout(timer);
      }
    },
  };
}

/** A received request. Its answer begins when its body is complete, or known to be incomplete. */
class Received implements HttpRequest {
  readonly begunAt = performance.now();
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: RequestHeaders;
  readonly connection: Connection;
  readonly hasTwoLengths: boolean;
  readonly #exchange: Exchange;
  readonly #clientOf: ClientAddress;
  readonly #limitBytes: number;
  readonly #body: Body;
  #onBegin: ((received: Received) => void) | null;

  constructor(exchange: Exchange, bodyLimitBytes: number, clientOf: ClientAddress, budget: Budget, onBegin: (received: Received) => void) {
    this.method = exchange.method;
    this.path = exchange.path;
    this.query = exchange.query;
    this.headers = exchange.headers;
    this.hasTwoLengths = exchange.hasTwoLengths;
    this.#exchange = exchange;
    this.#clientOf = clientOf;
    this.#limitBytes = bodyLimitBytes;
    this.#onBegin = onBegin;
    let owner: string | undefined; // the address is known only until the answer
    const room = { budget, owner: () => (owner ??= this.address) };
    this.#body = new Body(exchange, bodyLimitBytes, isMultipart(exchange.headers.get('content-type')), room, () => this.begin());
    this.connection = new Connection(exchange, () => this.#body.abort());
  }

  /** Both addresses are read on first use, which is rare and before any wait. */
  get address(): string {
    return this.#clientOf(this.peer, this.headers);
  }

  get peer(): string {
    return this.#exchange.peer;
  }

  body(mostBytes = this.#limitBytes): MaybePromise<Uint8Array> {
    const limitBytes = Math.min(mostBytes, this.#limitBytes);
    const received = this.sentBody(limitBytes);
    const encoding = this.headers.get('content-encoding');
    if (received instanceof Promise) return received.then((bytes) => inflated(bytes, encoding, limitBytes));
    return inflated(received, encoding, limitBytes);
  }

  sentBody(mostBytes = this.#limitBytes): MaybePromise<Uint8Array> {
    this.#body.limit(Math.min(mostBytes, this.#limitBytes));
    return this.#body.received();
  }

  onGone(gone: () => void): void {
    this.connection.onGone(gone);
  }

  isGone(): boolean {
    return this.connection.isGone;
  }

  stream(): AsyncIterable<Uint8Array> {
    return this.#body.stream();
  }

  get isUnread(): boolean {
    return this.#body.isUnread;
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
