// The state machine of one source in this process (integrations.md 1.2): connecting, connected, error with back-off, inactive, mocked.
import { CascadeError } from '../../../model/errors/index.ts';
import { EgressError } from '../../../platform/egress/index.ts';
import { type Connection, ConnectionFailure } from '../protocols/index.ts';
import { delayMs, LASTING_MS, UNAVAILABLE_MS } from './back-off.ts';

export type StateName = 'inactive' | 'connecting' | 'connected' | 'error' | 'mocked';

/** What fails on an open connection. */
export type Trouble = 'poll' | 'request';

export interface StateError {
  readonly code: string;
  readonly message: string;
}

export interface LifeState {
  readonly state: StateName;
  readonly error: StateError | null;
  readonly since: number;
  /** Failed attempts since the last success. */
  readonly attempts: number;
  readonly nextAttemptAt: number | null;
  readonly isUnavailable: boolean;
}

export interface LifeOptions {
  readonly now: () => number;
  /** Whether the source keeps a connection open; one that does not is connected at once, and never unavailable. */
  readonly isStanding: boolean;
  /** Whether a lost connection is opened again; true by default. */
  readonly reconnects?: boolean;
  /**
   * @param unwanted aborted when the connection is no longer needed
   * @param abandoned aborted when it has closed, or had its time to: what is still under way has no effect any more
   */
  readonly open: (unwanted: AbortSignal, abandoned: AbortSignal) => Promise<Connection>;
  /** Called at each change of the state. @param failure the error of an attempt or a poll; null where there was none, or it has been told */
  readonly changed: (state: LifeState, failure: StateError | null) => void;
  readonly random?: () => number;
}

/** Closing waits so long for requests in flight. */
const CLOSE_WITHIN_MS = 10_000;

interface Attempt {
  readonly unwanted: AbortController;
  readonly abandoned: AbortController;
}

export class Life {
  readonly #options: LifeOptions;
  #state: LifeState;
  #connection: Connection | null = null;
  #connectedAt = 0;
  #failingSince: number | null = null;
  /** Consecutive failures, including connections that did not last. */
  #failures = 0;
  /** What has failed on the open connection since it succeeded last; a connection that serves is none that lasts. */
  readonly #troubles = new Map<Trouble, number>();
  #authenticationFailed = false;
  #attempt: Attempt | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** Reports the trouble that the connection under way begins with. */
  #first: (() => void) | null = null;
  #isEnded = false;
  #ended: Promise<void> = Promise.resolve();
  #opening: Promise<void> = Promise.resolve();
  readonly #waiters = new Set<() => void>();

  constructor(options: LifeOptions) {
    this.#options = options;
    this.#state = { state: 'connecting', error: null, since: options.now(), attempts: 0, nextAttemptAt: null, isUnavailable: false };
  }

  get state(): LifeState {
    return { ...this.#state, isUnavailable: this.#isUnavailable() };
  }

  get hasBegun(): boolean {
    return this.#attempt !== null || this.#timer !== null;
  }

  /** Connects, and retries until it succeeds. Idempotent. */
  begin(): void {
    if (this.hasBegun || this.#isEnded) return;
    if (!this.#options.isStanding) this.#become({ state: 'connected' });
    this.#try();
  }

  /** The connection, once it is open; null where none opens within this time, or the source is closed. */
  async ready(withinMs: number): Promise<Connection | null> {
    this.begin();
    if (this.#connection || this.#isEnded) return this.#connection;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, withinMs);
      const waiters = this.#waiters;
      function done(): void {
        clearTimeout(timer);
        waiters.delete(done);
        resolve();
      }
      waiters.add(done);
    });
    return this.#connection;
  }

  get connection(): Connection | null {
    return this.#connection;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The open connection was lost: reconnects with back-off. */
  lost(error: unknown): void {
    const connection = this.#connection;
    if (!connection || this.#isEnded) return;
    this.#connection = null;
    this.#troubles.clear();
    this.#attempt?.unwanted.abort();
    if (this.#options.now() - this.#connectedAt >= LASTING_MS) this.#succeeded();
    this.#opening = closed(connection, this.#attempt);
    this.#failed(error, this.#options.reconnects !== false);
  }

  /**
   * A poll or a request failed while the connection stays open; the protocol itself schedules the next poll. The first poll may be a part of
   * opening: then the source was never connected.
   * @param isTold whether the failure has been counted and logged already
   */
  troubled(what: Trouble, error: unknown, nextAttemptAt = this.#state.nextAttemptAt, isTold = false): void {
    if (this.#isEnded) return;
    if (!this.#connection) {
      this.#first = () => this.troubled(what, error, nextAttemptAt, isTold);
      return;
    }
    const failure = toFailure(error);
    this.#failingSince ??= this.#options.now();
    const attempts = (this.#troubles.get(what) ?? 0) + 1;
    this.#troubles.set(what, attempts);
    this.#become({ state: 'error', error: failure, attempts, nextAttemptAt }, isTold ? null : failure);
  }

  /** One succeeded: it ends the trouble of its own kind, and says nothing of others, nor of how long the connection lasts. */
  recovered(what: Trouble): void {
    if (this.#isEnded || !this.#troubles.delete(what) || this.#troubles.size > 0) return;
    this.#failingSince = null;
    this.#become({ state: 'connected', error: null, attempts: 0, nextAttemptAt: null });
  }

  /** Closes the connection, and waits at most ten seconds for requests in flight; each further call waits for the same. */
  end(): Promise<void> {
    if (this.#isEnded) return this.#ended;
    this.#isEnded = true;
    this.#ended = this.#end();
    return this.#ended;
  }

  async #end(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    const attempt = this.#attempt;
    attempt?.unwanted.abort();
    const connection = this.#connection;
    this.#connection = null;
    for (const wake of [...this.#waiters]) wake();
    await inTime(this.#opening); // what opens later is closed then
    if (connection) await closed(connection, attempt);
    else attempt?.abandoned.abort();
  }

  #try(): void {
    this.#timer = null;
    const attempt = { unwanted: new AbortController(), abandoned: new AbortController() };
    this.#attempt = attempt;
    this.#first = null;
    if (this.#options.isStanding) this.#become({ state: 'connecting', nextAttemptAt: null });
    this.#opening = this.#opening.then(() => this.#open(attempt));
  }

  async #open(attempt: Attempt): Promise<void> {
    if (this.#isEnded) return;
    let connection: Connection;
    try {
      connection = await this.#options.open(attempt.unwanted.signal, attempt.abandoned.signal);
    } catch (error) {
      attempt.abandoned.abort(); // nobody has a connection that could end what is left open
      if (!this.#isEnded) this.#failed(error);
      return;
    }
    if (this.#isEnded || attempt.unwanted.signal.aborted) return closed(connection, attempt);
    this.#connection = connection;
    this.#connectedAt = this.#options.now();
    this.#failingSince = null;
    if (this.#first) this.#first();
    else this.#become({ state: 'connected', error: null, attempts: 0, nextAttemptAt: null });
    for (const wake of [...this.#waiters]) wake();
  }

  #succeeded(): void {
    this.#failures = 0;
    this.#failingSince = null;
    this.#authenticationFailed = false;
  }

  #failed(error: unknown, isTriedAgain = true): void {
    const failure = toFailure(error);
    const isAuthentication = error instanceof ConnectionFailure && error.isAuthentication && !this.#authenticationFailed;
    this.#authenticationFailed ||= isAuthentication;
    this.#failures++;
    this.#failingSince ??= this.#options.now();
    if (!isTriedAgain) return this.#become({ state: 'error', error: failure, attempts: this.#state.attempts + 1 }, failure);
    const delay = delayMs(this.#failures, isAuthentication, (this.#options.random ?? Math.random)());
    this.#timer = setTimeout(() => this.#try(), delay);
    this.#timer.unref();
    const attempts = this.#state.attempts + 1;
    this.#become({ state: 'error', error: failure, attempts, nextAttemptAt: this.#options.now() + delay }, failure);
  }

  #become(change: Partial<LifeState>, failure: StateError | null = null): void {
    const now = this.#options.now();
    const before = this.#state;
    const next = { ...before, ...change };
    this.#state = { ...next, since: next.state === before.state ? before.since : now };
    this.#options.changed(this.state, failure);
  }

  /** It comes with time, between two attempts as well. */
  #isUnavailable(): boolean {
    if (!this.#options.isStanding || this.#state.state === 'connected' || this.#failingSince === null) return false;
    const failed = [...this.#troubles.values()].reduce((sum, one) => sum + one, this.#failures);
    return failed >= 2 && this.#options.now() - this.#failingSince >= UNAVAILABLE_MS;
  }
}

async function closed(connection: Connection, attempt: Attempt | null): Promise<void> {
  await inTime(connection.close().catch(() => undefined)); // a connection that does not close in time is unusable either way
  attempt?.abandoned.abort();
}

/** Resolves when the work ends, or its time. */
async function inTime(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_WITHIN_MS);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

/** The error as the state of a source shows it. Errors of libraries hold no credentials, since addresses hold none. */
export function toFailure(error: unknown): StateError {
  if (error instanceof ConnectionFailure) return { code: error.code, message: error.message };
  if (error instanceof CascadeError) return { code: error.code, message: error.message };
  if (error instanceof EgressError)
    return {
      code: error.failure === 'refused' ? 'cascade.source.address.refused' : 'cascade.source.connect.failed',
      message: `${error.address}: ${error.message}`,
    };
  return { code: 'cascade.source.connect.failed', message: error instanceof Error ? error.message : String(error) };
}
