// All namespaces share the main thread: what keeps it for long holds up everybody. A timer that comes late shows that it was kept; whose work
// it was is known of what runs within `run`, and else guessed from what was begun last.
import { performance, PerformanceObserver } from 'node:perf_hooks';
import type { Logger } from 'pino';

/** What is longer is a stall. */
const STALL_MS = 20;
const LOOK_EVERY_MS = 10;
/** Of one namespace and work at most one line is logged in so long; the next one says how many there were. */
const QUIET_MS = 10_000;

export interface StallsOptions {
  readonly log: Logger;
  /** Used by this thread so far, ms; what the system says when absent. */
  readonly processorMs?: () => number;
  /** See `QUIET_MS`. */
  readonly quietMs?: number;
}

/** Lines within that time, of all together. */
const MOST_LINES = 20;

/** `request`, `program`: the synchronous part of it; `garbage`: of the engine's collector; `processor`: for the most part the thread waited for one. */
export type Cause = 'request' | 'program' | 'commit' | 'garbage' | 'processor' | 'other';

export interface Stall {
  readonly ms: number;
  readonly cause: Cause;
  /** Of the work itself, or, where the cause is `other`, of what was begun last before it. */
  readonly namespace: string | null;
  readonly what: string;
}

/** That the thread was kept. */
interface Found {
  readonly keptMs: number;
  /** That the thread used meanwhile. */
  readonly processorMs: number;
  readonly longest: Stall | null;
}

export class Stalls implements Disposable {
  /** Told of each. */
  onStall: (stall: Stall) => void = () => undefined;
  readonly #log: Logger;
  readonly #timer: NodeJS.Timeout;
  readonly #collections: PerformanceObserver;
  #lookedAt = performance.now();
  readonly #processorMs: () => number;
  readonly #quietMs: number;
  #processorAt: number;
  /** The longest work since the last look. */
  #longest: Stall | null = null;
  #last: Omit<Stall, 'ms'> = { cause: 'other', namespace: null, what: 'nothing yet' };
  #collectedMs = 0;
  /** Until the collector has said what of it was its own. */
  #found: Found | null = null;
  readonly #lines = new Map<string, number>();
  #linesSince = performance.now();

  constructor({ log, processorMs = usedByThread, quietMs = QUIET_MS }: StallsOptions) {
    this.#log = log;
    this.#processorMs = processorMs;
    this.#quietMs = quietMs;
    this.#processorAt = processorMs();
    this.#collections = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) this.#collectedMs += duration;
    });
    this.#collections.observe({ entryTypes: ['gc'] });
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  /**
   * Does a piece of work, to its end or until it waits for something.
   * @param what of a bounded number of texts: an operation and the name of a resource
   */
  run<Result>(cause: Cause, namespace: string, what: string, work: () => Result): Result {
    const begun = performance.now();
    try {
      return work();
    } finally {
      const ms = performance.now() - begun;
      this.#last = { cause, namespace, what };
      if (ms >= STALL_MS && ms > (this.#longest?.ms ?? 0)) this.#longest = { ms, cause, namespace, what };
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#collections.disconnect();
  }

  #look(): void {
    const now = performance.now();
    const keptMs = now - this.#lookedAt - LOOK_EVERY_MS;
    const processorAt = this.#processorMs();
    const processorMs = processorAt - this.#processorAt;
    const [found, longest] = [this.#found, this.#longest];
    this.#found = keptMs >= STALL_MS || longest ? { keptMs, processorMs, longest } : null;
    this.#longest = null;
    this.#lookedAt = now;
    this.#processorAt = processorAt;
    if (found) this.#report(this.#nameOf(found));
    this.#collectedMs = this.#found ? this.#collectedMs : 0;
    if (now - this.#linesSince > this.#quietMs) this.#forgetLines(now);
  }

  /** The cause is that of the largest part. */
  #nameOf({ keptMs, processorMs, longest }: Found): Stall {
    const ms = Math.max(keptMs, longest?.ms ?? 0);
    const collectedMs = this.#collectedMs;
    this.#collectedMs = 0;
    const waitedMs = Math.max(0, ms - processorMs);
    const workedMs = ms - collectedMs - waitedMs;
    if (collectedMs >= Math.max(waitedMs, workedMs))
      return { ms, cause: 'garbage', namespace: longest?.namespace ?? null, what: longest?.what ?? 'collected' };
    if (waitedMs >= workedMs) return { ms, cause: 'processor', namespace: null, what: 'this thread had to wait for it' };
    if (longest && longest.ms >= ms / 2) return longest;
    return { ...this.#last, ms, cause: 'other', what: `after: ${this.#last.what}` };
  }

  #report(stall: Stall): void {
    this.onStall(stall);
    const key = `${stall.cause} ${stall.namespace} ${stall.what}`;
    const before = this.#lines.get(key);
    if (before !== undefined) this.#lines.set(key, before + 1);
    if (before !== undefined || this.#lines.size >= MOST_LINES) return;
    this.#lines.set(key, 0);
    const { ms, cause, namespace, what } = stall;
    this.#log.warn({ ms: Math.round(ms), cause, namespace, what }, 'the main thread was kept from everything else');
  }

  #forgetLines(now: number): void {
    for (const [key, more] of this.#lines) if (more > 0) this.#log.warn({ work: key, more }, 'it was kept again by the same');
    this.#lines.clear();
    this.#linesSince = now;
  }
}

/** Of the whole process where Node cannot tell what a thread uses (before 22.19). */
function usedByThread(): number {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage();
  return (user + system) / 1_000;
}
