// A sandbox process that is always there: started, watched, and replaced when it ends, with the queues of its lanes.
// Whose fault an end was, and what becomes of the runs, is left to sandbox.ts.
import type { Logger } from 'pino';
import { type Child, type ChildEnd, type ChildEvents, type ChildOptions, openChild } from './child.ts';
import type { Batch, IsolateState } from './isolate-state.ts';
import { type HangLimit, type LaneLimits, LaneQueue } from './lane-queue.ts';
import { usedCpuMs } from './used-cpu.ts';
import type { WarmStandby } from './warm-standby.ts';
import type { BatchReply } from './wire.ts';

/** The step of a lane is looked after as often in one heartbeat. */
const WATCHES_PER_HEARTBEAT = 4;
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;

export interface SupervisorOptions {
  child: ChildOptions;
  /** It has at least as many lanes as `child`. */
  standby: WarmStandby;
  limits: LaneLimits;
  log: Logger;
}

/**
 * 'hang': a step had to be ended; 'crash': it ended by itself; 'interruption': somebody else killed it, or it did not answer any more,
 * which a busy machine may bring about.
 */
export interface Death {
  cause: 'hang' | 'crash' | 'interruption';
  /** Batches that may be to blame. */
  suspects: Batch[];
  isolates: IsolateState[];
}

export interface SupervisorEvents {
  replied(lane: LaneQueue, batch: Batch, reply: BatchReply, text: string): void;
  /** The runs in the isolate have no isolate any more. */
  evicted(isolate: IsolateState): void;
  died(death: Death): void;
  /** What was begun in this turn of the event loop is about to be sent. */
  turned(): void;
}

export class ProcessSupervisor {
  readonly lanes: readonly LaneQueue[];
  readonly #options: SupervisorOptions;
  readonly #events: SupervisorEvents;
  readonly #hangLimit: HangLimit;
  #child: Child | null = null;
  #watch: NodeJS.Timeout | null = null;
  #flush: NodeJS.Immediate | null = null;
  #restart: NodeJS.Timeout | null = null;
  /** The batch for which the process was killed. */
  #hung: Batch | null = null;
  #failedStarts = 0;
  #isClosed = false;
  #opening: { resolve: () => void; reject: (error: Error) => void } | null = null;

  constructor(options: SupervisorOptions, events: SupervisorEvents) {
    this.#options = options;
    this.#events = events;
    const { heartbeatMs, settings } = options.child;
    const limitMs = settings.stepTimeoutMs + heartbeatMs;
    // All lanes may be busy, each with its share of what the process gets.
    this.#hangLimit = { turns: Math.ceil((limitMs / heartbeatMs) * WATCHES_PER_HEARTBEAT), cpuMs: limitMs * options.child.lanes };
    this.lanes = Array.from(
      { length: options.child.lanes },
      (_, lane) =>
        new LaneQueue(options.limits, {
          send: (header, items) => this.#child?.send(lane, header, items),
          pumpSoon: () => this.#pumpSoon(),
          evicted: events.evicted,
        }),
    );
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** It was opened and not closed; at the moment its process may be on its way. */
  get isOpen(): boolean {
    return this.#watch !== null;
  }

  /**
   * Resolves when the process serves ('patiently': at once).
   * @param how 'patiently': a process that can't be started is tried again and again, as later ones always are; else that is a rejection
   */
  async open(how: 'once' | 'patiently'): Promise<void> {
    this.#isClosed = false;
    if (how === 'patiently') {
      this.#startWatch();
      this.#startChild();
      return;
    }
    await new Promise<void>((resolve, reject) => {
      this.#opening = { resolve, reject };
      this.#startWatch();
      this.#startChild();
    });
  }

  /** The process is gone when this resolves. What its isolates held is forgotten without a word. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#watch) clearInterval(this.#watch);
    if (this.#restart) clearTimeout(this.#restart);
    if (this.#flush) clearImmediate(this.#flush);
    this.#watch = this.#restart = this.#flush = null;
    const child = this.#child;
    this.#child = null;
    for (const lane of this.lanes) lane.reset();
    child?.kill();
    await child?.exited;
  }

  /** Everything that is pushed in this turn of the event loop goes together. */
  #pumpSoon(): void {
    this.#flush ??= setImmediate(() => {
      this.#flush = null;
      this.#events.turned();
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#child?.isReady) for (const lane of this.lanes) lane.pump();
  }

  #startChild(): void {
    const { lanes } = this;
    const events: ChildEvents = {
      ready: () => {
        this.#opening?.resolve();
        this.#opening = null;
        this.#pump();
      },
      mark: (lane, batch) => {
        if (this.#child === child) lanes[lane]?.marked(batch);
      },
      reply: (number, reply, text) => {
        const lane = lanes[number];
        const batch = this.#child === child ? lane?.replied(reply) : undefined;
        if (!lane || !batch) return;
        this.#options.standby.prepare(); // not before something has run: many a service serves data alone
        this.#events.replied(lane, batch, reply, text);
        batch.runs = []; // a table that the batch once stood in may live on for a while, and with it all that hangs in it
        lane.settled(batch.isolate);
        this.#pumpSoon();
      },
      exit: (end) => {
        if (this.#child === child) this.#exited(child, end);
      },
    };
    const child = this.#options.standby.take(events) ?? openChild(this.#options.child, events);
    this.#child = child;
    if (child.isReady) this.#pump();
  }

  #exited({ isReady, pid }: Child, end: ChildEnd): void {
    const hung = this.#hung;
    this.#child = null;
    this.#hung = null;
    const held = this.lanes.map((lane) => lane.reset());
    if (this.#opening) {
      this.#opening.reject(new Error(`the sandbox process cannot be started: ${end.stderr.trim() || end.signal}`));
      this.#opening = null;
      void this.close();
      return;
    }
    this.#options.log.error({ pid, signal: end.signal, by: end.by, hung: hung?.isolate.namespace }, 'the sandbox process ended');
    this.#replace(isReady);
    const begun = held.flatMap(({ batches }) => batches.filter((batch) => batch.begun));
    const cause = hung ? 'hang' : end.by === 'itself' ? 'crash' : 'interruption';
    this.#events.died({ cause, suspects: hung ? [hung] : begun, isolates: held.flatMap(({ isolates }) => isolates) });
  }

  /** At once, unless it is the start itself that fails. */
  #replace(wasReady: boolean): void {
    if (wasReady) {
      this.#failedStarts = 0;
      this.#startChild();
      return;
    }
    const delay = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** this.#failedStarts);
    this.#failedStarts += 1;
    this.#restart = setTimeout(() => this.#startAgain(), delay);
  }

  #startAgain(): void {
    this.#restart = null;
    this.#startChild();
  }

  #startWatch(): void {
    this.#watch = setInterval(() => this.#look(), this.#options.child.heartbeatMs / WATCHES_PER_HEARTBEAT);
  }

  /** Kills the process when a lane is stuck where no time limit reaches, inside the engine. */
  #look(): void {
    const { pid } = this;
    const used = (): number | null => (pid === undefined ? null : usedCpuMs(pid));
    for (const lane of this.lanes) {
      const hung = lane.watch(this.#hangLimit, used);
      if (!hung || this.#hung) continue;
      this.#options.log.error({ pid: this.pid, namespace: hung.isolate.namespace }, 'a lane hangs');
      this.#hung = hung;
      this.#child?.kill();
    }
  }
}
