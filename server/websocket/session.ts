// One connection of the WebSocket binding, in either framing: logs in, sends requests, gets answers, subscribes (resources-and-api.md 2.15,
// 6.7). Messages are admitted to the engine in order; there they run concurrently.
import { apiError, isApiError } from '../../model/errors/index.ts';
import type { ApiRequest, Identity } from '../../engine/index.ts';
import { countedRefusal, endsWithCaller, errorReply, within } from '../http/index.ts';
import { Ended, isLogin, Login } from './login.ts';
import { type Answer, answerPieces, answerText, bytesOf, headersOf, memberOf, type Message, NO_HEADERS, requestIdOf } from './message.ts';
import { isOwn, type Own } from './operations.ts';
import { Receiving } from './receiving.ts';
import { apiRequest } from './requests.ts';
import type { SessionOptions } from './session-options.ts';
import { Subscriptions } from './subscriptions.ts';

/** Bound of the unanswered requests in the engine; further ones wait here, since reading from a socket cannot be paused. */
const MOST_OPEN = 1_000;
/** Bound of the bytes that wait; messages beyond are refused. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024;
/** So many, and so short, are not counted after a login: they are held for a moment only, and there are very many of them. */
const FEW = 8;
const SHORT_BYTES = 1024;
/** What a message before a login takes at least while it waits, however short it is. */
const EARLY_BYTES = 1024;

export class Session {
  readonly #options: SessionOptions;
  readonly #login: Login;
  readonly #subscriptions: Subscriptions;
  readonly #loginTimer: NodeJS.Timeout;
  readonly #waiting: { message: Message; bytes: number }[] = [];
  #waitingBytes = 0;
  /** The amounts taken of the budget, by message. */
  readonly #counted = new Map<object, number>();
  /** Runs for other installations, by request id: they are aborted when nobody waits for them any more. */
  readonly #abortable = new Map<string, AbortController>();
  readonly #receiving: Receiving;
  /** Logins that are not answered yet. */
  #entering = 0;
  /** Whether it counts among the sockets without a login. */
  #isUnknown = false;
  /** Its login was refused, since its namespace may have no more sockets. */
  #isOneTooMany = false;
  #open = 0;
  #turn: Promise<void> = Promise.resolve();
  #draining = false;
  #isClosed = false;
  /** Its place in the quota of sockets. */
  #place: { readonly namespace: string; readonly release: () => void } | null = null;
  #rechecking = false;
  #recheckAgain = false;

  constructor(options: SessionOptions) {
    const { engine, wire, loginMs, framing, messageLimitBytes, kept } = options;
    this.#options = options;
    this.#login = new Login(engine.identity, wire.address, (login) => this.#subscriptions.uses(login));
    this.#subscriptions = new Subscriptions({
      engine,
      login: () => this.#login.current!, // nobody subscribes before a login
      keep: (bytes) => kept.take(wire.address, bytes),
      free: (bytes) => kept.give(wire.address, bytes),
      send: (text) => wire.send(text),
      hasRoom: () => wire.hasRoom(),
      failed: (error) => options.log.error({ err: error }, 'the stored events of a subscription could not be sent'),
      sendError: (error, headers) => this.#sendError(error, headers),
    });
    this.#receiving = new Receiving({
      framing,
      mostBytes: messageLimitBytes,
      isKnown: () => this.#login.isDone,
      entering: () => (this.#entering > 0 ? this.#turn : null),
      owner: () => this.#place?.namespace ?? wire.address,
      close: (code, reason) => wire.close(code, reason),
      count: (what, bytes, message) => this.#count(what, bytes, message),
      uncount: (what) => this.#uncount(what),
      take: (message, bytes) => this.#take(message, bytes),
      unreadable: (error) => this.#unreadable(error),
      tooMany,
      refuse: (error, message) => this.#sendError(error, message ? headersIn(message) : NO_HEADERS),
    });
    this.#loginTimer = setTimeout(() => wire.close(4401, 'login expected'), loginMs);
  }

  /** Called once, when the wire is open. */
  begin(): void {
    const { unknown, wire } = this.#options;
    if (this.#isClosed) return;
    this.#isUnknown = unknown.take(wire.address, 1) === null;
    if (!this.#isUnknown) wire.close(1013, 'too many sockets without a login');
  }

  /** Number of requests without an answer. */
  get open(): number {
    return this.#open + this.#waiting.length + (this.#receiving.isReading ? 1 : 0);
  }

  get subscriptions(): number {
    return this.#subscriptions.size;
  }

  receive(frame: Uint8Array, isBinary: boolean): void {
    if (!this.#login.isDone && this.#entering === 0 && this.open >= MOST_OPEN)
      return this.#options.wire.close(1008, 'too many messages before a login');
    this.#receiving.receive(frame, isBinary);
  }

  /** No request at all: after the login it counts as one. Never rejects. */
  async #unreadable(error: unknown): Promise<void> {
    let shown = error;
    try {
      if (this.#login.isDone) await countedRefusal(this.#options.engine, await this.#login.identify(), error);
    } catch (refusal) {
      if (isApiError(refusal)) shown = refusal;
    }
    this.#sendError(shown, NO_HEADERS);
  }

  /** @throws cascade.quota.exceeded */
  #count(what: object, bytes: number, message?: Message): void {
    if (this.#isClosed) return;
    const { isDone } = this.#login;
    if (message && bytes < SHORT_BYTES && isDone && (this.open < FEW || message.op === 'acknowledge')) return; // an acknowledgement has no answer
    const amount = message ? Math.max(bytes, bytesOf(message), isDone ? 0 : EARLY_BYTES) : bytes;
    const { budget, wire } = this.#options;
    const refusal = budget.take(wire.address, amount);
    if (refusal) throw refusal;
    this.#counted.set(what, amount);
  }

  #uncount(what: object): void {
    const bytes = this.#counted.get(what);
    if (bytes === undefined) return;
    this.#counted.delete(what);
    this.#options.budget.give(this.#options.wire.address, bytes);
  }

  #take(message: Message, bytes: number): void {
    if (this.#isClosed) return this.#uncount(message);
    const isFull = this.#open >= MOST_OPEN && this.#waitingBytes + bytes > MOST_WAITING_BYTES;
    if (this.#draining || isFull) {
      this.#uncount(message);
      return this.#sendError(isFull ? tooMany() : apiError('cascade.server.unavailable'), headersIn(message));
    }
    if (this.#open < MOST_OPEN) return this.#begin(message);
    this.#waiting.push({ message, bytes });
    this.#waitingBytes += bytes;
  }

  /** Checks whether the login is still valid, for sockets that only listen: closes the wire when its token was revoked. */
  async recheck(): Promise<void> {
    if (!this.#login.isDone) return;
    try {
      await this.#login.identify();
    } catch (error) {
      this.#endIf(error); // the next request reports other errors
    }
  }

  /**
   * Rights of a user have changed. Notices for this socket wait until its rights are looked up; when its login has ended, it is closed.
   * @param username null: any user may be affected
   */
  changed(username: string | null): void {
    if (!this.#login.isDone || (username !== null && username !== this.#login.username && !this.#subscriptions.isOf(username))) return;
    this.#recheckAgain = true;
    if (this.#rechecking) return;
    this.#rechecking = true;
    this.#subscriptions.hold();
    this.#recheckAll()
      .catch((error: unknown) => this.#options.log.error({ err: error }, 'the rights of a socket could not be looked up'))
      .finally(() => {
        this.#rechecking = false;
        this.#subscriptions.release();
      });
  }

  /** All changes of a turn are looked up together; later ones once more, before the notices that follow them are sent. */
  async #recheckAll(): Promise<void> {
    do {
      await new Promise((resolve) => setImmediate(resolve));
      this.#recheckAgain = false;
      const before = this.#subscriptions.held;
      await this.#subscriptions.recheck(true);
      await this.recheck(); // last: a login that ends while subscriptions are looked at closes the socket, without notices
      this.#subscriptions.releaseFirst(before); // endless changes must not hold notices back for ever
    } while (this.#recheckAgain);
  }

  /** Refuses requests from now on. */
  drain(): void {
    this.#draining = true;
  }

  /** Called when the connection is gone. Resolves when its sessions have ended, too. */
  async closed(): Promise<void> {
    this.#isClosed = true;
    this.#receiving.close();
    this.#place?.release();
    clearTimeout(this.#loginTimer);
    this.#known();
    this.#subscriptions.closeAll();
    this.#waiting.length = 0;
    this.#waitingBytes = 0;
    for (const ending of this.#abortable.values()) ending.abort();
    for (const counted of [...this.#counted.keys()]) this.#uncount(counted);
    await this.#login
      .close()
      .catch((error: unknown) =>
        this.#options.log.warn({ err: error }, 'the session of a socket could not be ended: it expires by itself'),
      );
  }

  #begin(message: Message): void {
    this.#open++;
    if (isLogin(message)) this.#entering++;
    this.#turn = this.#turn.then(() => this.#inTurn()).then(() => this.#admit(message));
  }

  /** Resolves when a request may begin: one namespace's sockets take turns with the other senders. */
  #inTurn(): Promise<void> {
    const { turns, wire } = this.#options;
    return new Promise((resolve) => turns.take(this.#place?.namespace ?? wire.address, resolve));
  }

  /** Admits messages in order, since each is sent with the identity of the moment; requests themselves are not awaited. Never rejects. */
  async #admit(message: Message): Promise<void> {
    try {
      if (isLogin(message)) {
        const body = await this.#login.enter(message, (namespace) => this.#takePlace(namespace));
        clearTimeout(this.#loginTimer);
        this.#known();
        this.#answered(message, { status: 200, body });
        return;
      }
      const identity = await this.#login.identify(message.targetNamespace);
      this.#carryOut(message, identity).catch((error: unknown) => this.#failed(message, error));
    } catch (error) {
      this.#failed(message, error);
    } finally {
      if (isLogin(message)) this.#entering--;
    }
  }

  #known(): void {
    if (this.#isUnknown) this.#options.unknown.give(this.#options.wire.address, 1);
    this.#isUnknown = false;
  }

  /** Takes a place in the quota for the namespace of the last login; a socket has one. @throws cascade.quota.exceeded */
  async #takePlace(namespace: string): Promise<void> {
    if (this.#place?.namespace === namespace) return;
    const release = await this.#options.engine.openSocket(namespace).catch((error: unknown) => {
      this.#isOneTooMany = !this.#place;
      throw error;
    });
    this.#place?.release();
    this.#place = { namespace, release };
    if (this.#isClosed) release(); // the socket was closed meanwhile
  }

  async #carryOut(message: Message, identity: Identity): Promise<void> {
    const { wrong } = message;
    if (wrong) await this.#refuse(apiError('cascade.request.parameter.invalid', wrong.name, wrong.value), identity);
    if (isOwn(message.op) && (message.op !== 'cancel' || isCancel(message))) await this.#own[message.op](message, identity);
    else this.#answered(message, await this.#ask(message, identity));
  }

  readonly #own: Readonly<Record<Own, (message: Message, identity: Identity) => Promise<void> | void>> = {
    subscribe: async (message, identity) => {
      const { answer, answered } = await this.#subscriptions.subscribe(message, identity);
      this.#answered(message, answer);
      answered();
    },
    unsubscribe: async (message, identity) => this.#answered(message, await this.#subscriptions.unsubscribe(message, identity)),
    acknowledge: async (message, identity) => {
      await this.#subscriptions.acknowledge(message, identity);
      this.#ended(message); // acknowledgements are never answered (8.5)
    },
    cancel: (message) => {
      this.#abortable.get(message.resourceId ?? '')?.abort();
      this.#ended(message); // a cancellation is not answered either
    },
  };

  #ask(message: Message, identity: Identity): Promise<Answer> {
    let request: ApiRequest;
    try {
      request = apiRequest(message, identity);
    } catch (error) {
      return this.#refuse(error, identity);
    }
    const { engine, deadlines, wire } = this.#options;
    request.address = wire.address;
    request.streams = true;
    request.isGone = () => this.#isClosed;
    const id = requestIdOf(message);
    const ending = id !== null && endsWithCaller(request) ? new AbortController() : null;
    if (ending) request.signal = ending.signal;
    if (ending) this.#abortable.set(String(id), ending);
    const whole = engine.execute(request);
    const answer = request.op === 'execute' ? whole : within(deadlines, whole);
    return ending ? answer.finally(() => this.#abortable.delete(String(id))) : answer;
  }

  #refuse(error: unknown, identity: Identity): Promise<never> {
    return countedRefusal(this.#options.engine, identity, error);
  }

  #answered(message: Message, answer: Answer): void {
    const { wire } = this.#options;
    if (answer.pieces) {
      void wire.stream(answerPieces(answer.pieces, answer, headersOf(message, answer))).finally(() => this.#ended(message));
      return;
    }
    wire.send(answerText(answer, isLogin(message) ? null : headersOf(message, answer)));
    this.#ended(message);
  }

  #failed(message: Message, error: unknown): void {
    const shown = error instanceof Ended ? apiError('cascade.security.token.invalid') : error;
    if (message.op !== 'acknowledge') this.#sendError(shown, headersIn(message));
    this.#endIf(error);
    this.#ended(message);
  }

  #sendError(error: unknown, headers: string | null): void {
    if (this.#isClosed && isApiError(error)) return; // a thousand requests may end with their connection
    const { status, body } = errorReply(error, this.#options.log);
    this.#options.wire.send(answerText({ status, body }, headers));
  }

  #endIf(error: unknown): void {
    if (this.#isOneTooMany) this.#options.wire.close(4429, 'the namespace has no more sockets');
    if (!(error instanceof Ended)) return;
    this.#subscriptions.closeAll();
    this.#options.wire.close(4401, 'the token was ended');
  }

  #ended(message: Message): void {
    this.#open--;
    this.#uncount(message);
    const next = this.#waiting.shift();
    if (next) {
      this.#waitingBytes -= next.bytes;
      this.#begin(next.message);
    }
    this.#options.onAnswer?.();
  }
}

const tooMany = () => apiError('cascade.quota.exceeded', 'unansweredRequests', MOST_OPEN);

/** Whether another installation cancels its request; for clients `cancel` is a command like others. */
const isCancel = ({ parameters }: Message): boolean => String(memberOf(parameters, 'X-Cascade-Federation')) === '1';

const headersIn = (message: Message): string | null => (isLogin(message) ? null : headersOf(message));
