// An organization's use of its quota in this process: rates, and what is open now. Counts of stored resources are queries
// (features/quotas).

import { apiError } from '../../model/errors/index.ts';
import type { RunLimits } from '../../runtime/runs/index.ts';
import { type LimitName, parseQuota, type Quota, type RateName } from './quota.ts';
import { Rate } from './rate.ts';

/** Names of what is counted while it is open. */
export type OpenName = 'webSockets' | 'subscriptions';

/** Ends the counting; idempotent. */
export type Release = () => void;

/** Interval of looking at a rate of 0 again, since it may have been raised. */
const ZERO_RATE_RETRY_MS = 1_000;

export class Usage {
  /** All namespaces that share the quota. */
  namespaces: readonly string[] = [];
  #quota: Quota = parseQuota(null);
  #text = '{}';
  readonly #rates = new Map<string, Rate>();
  readonly #open: Record<OpenName, number> = { webSockets: 0, subscriptions: 0 };
  /** Executions that wait for their turn, in order. */
  readonly #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | null = null;

  /** @param text the quota's JSON, which shows whether the quota has changed */
  set(quota: Quota, text: string): void {
    if (text === this.#text) return;
    this.#quota = quota;
    this.#text = text;
    this.#rates.clear();
    this.#serve();
  }

  get runLimits(): RunLimits {
    return this.#quota.runs;
  }

  limit(name: LimitName): number | null {
    return this.#quota.limits[name];
  }

  /** @throws cascade.quota.exceeded */
  takeRequest(): void {
    this.#take('requestsPerSecond', this.#quota.limits.requestsPerSecond, 0);
  }

  /** Counts an execution for a client. @throws cascade.quota.exceeded */
  takeExecution(): void {
    if (this.#waiting.length > 0) throw apiError('cascade.quota.exceeded', 'execution', this.#quota.rates.execution);
    this.#take('execution', this.#quota.rates.execution, this.#credit('execution'));
  }

  /** Counts an execution that was acknowledged already: it waits for its turn, and is never refused. Undefined: it may begin at once. */
  execution(): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#isTaken('execution', this.#quota.rates.execution, this.#credit('execution'))) return undefined;
    const turn = new Promise<void>((go) => this.#waiting.push(go));
    this.#plan();
    return turn;
  }

  /** Whether more executions wait than the credit allows: further work is refused. */
  get isBackedUp(): boolean {
    const { queueRatio } = this.#quota.credit;
    return this.#waiting.length > 0 && this.#waiting.length >= queueRatio * this.#credit('execution');
  }

  get executionRate(): number {
    return this.#quota.rates.execution ?? 0;
  }

  /** Milliseconds until a message of a source may be taken; 0: it is taken now. */
  messageWaitMs(): number {
    const { receiveMessage } = this.#quota.rates;
    if (this.#isTaken('receiveMessage', receiveMessage, this.#credit('receiveMessage'))) return 0;
    return Math.min(ZERO_RATE_RETRY_MS, this.#rates.get('receiveMessage')?.waitMs(performance.now()) ?? ZERO_RATE_RETRY_MS);
  }

  /** @throws cascade.quota.exceeded */
  open(name: OpenName): Release {
    const limit = this.#quota.limits[name];
    if (limit !== null && this.#open[name] >= limit) throw apiError('cascade.quota.exceeded', name, limit);
    this.#open[name]++;
    let isOpen = true;
    return () => {
      if (isOpen) this.#open[name]--;
      isOpen = false;
    };
  }

  /** Stops admitting from the queue when the service ends: its runs stand in the journal. */
  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #credit(name: RateName): number {
    return ((this.#quota.rates[name] ?? 0) * this.#quota.credit.percentage) / 100;
  }

  #take(name: string, perSecond: number | null, credit: number): void {
    if (!this.#isTaken(name, perSecond, credit)) throw apiError('cascade.quota.exceeded', name, perSecond);
  }

  #isTaken(name: string, perSecond: number | null, credit: number): boolean {
    if (perSecond === null) return true;
    const now = performance.now();
    let rate = this.#rates.get(name);
    if (!rate) {
      rate = new Rate(perSecond, credit, now);
      this.#rates.set(name, rate);
    }
    return rate.take(now);
  }

  #plan(): void {
    if (this.#timer || this.#waiting.length === 0) return;
    const waitMs = this.#rates.get('execution')?.waitMs(performance.now()) ?? 0;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.#serve();
      },
      Math.min(ZERO_RATE_RETRY_MS, waitMs),
    );
  }

  #serve(): void {
    while (this.#waiting.length > 0 && this.#isTaken('execution', this.#quota.rates.execution, this.#credit('execution')))
      this.#waiting.shift()?.();
    this.#plan();
  }
}
