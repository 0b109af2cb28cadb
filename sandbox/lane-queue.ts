// The service's side of one lane: which isolates it has, what waits for each, what is under way. Sends batches, keeps their bounds,
// lets the namespaces take turns. What items and answers mean is left to sandbox.ts.
import { type Batch, IsolateState, type Owner } from './isolate-state.ts';
import type { LaneStats } from './types.ts';
import type { BatchHeader, BatchReply } from './wire.ts';

/** Isolates alive at once in one lane. */
const MAX_ISOLATES = 64;
const MAX_LENGTH_IN_FLIGHT = 4 * 1024 * 1024;
/** Counted for each batch beside its CPU time, so that many small ones are not free. */
const BATCH_COST_MS = 0.05;
/** When about that much work is in flight, a third batch waits, so that a new run does not queue behind eight slow ones. */
const MAX_MS_IN_FLIGHT = 50;
/** A batch may stand for so many times its limit when its process gets no processor time. */
const PATIENCE = 10;

export interface LaneLimits {
  batches: number;
  runsPerBatch: number;
  /** What a run may hold unless it says so. */
  memoryBytes: number;
}

/** When a batch counts as hung: after so many turns of the watch, in which its process has used so much of the processor. */
export interface HangLimit {
  turns: number;
  cpuMs: number;
}

export interface LaneEvents {
  send(header: BatchHeader, items: string): void;
  /** Something waits to be sent. */
  pumpSoon(): void;
  /** The isolate was disposed, for another's sake or for its own; the runs in it have no isolate any more. */
  evicted(isolate: IsolateState): void;
}

export class LaneQueue implements Owner {
  readonly #limits: LaneLimits;
  readonly #events: LaneEvents;
  readonly #isolates = new Map<string, IsolateState>();
  /** Those that something waits for. */
  readonly #ready = new Set<IsolateState>();
  /** Under way, oldest first: a few. */
  #batches: Batch[] = [];
  /** To be disposed over there. */
  #toClose: string[] = [];
  #alive = 0;
  #waitingItems = 0;
  #runsInFlight = 0;
  #lengthInFlight = 0;
  #msInFlight = 0;
  /** CPU time that the last served isolate had got by then: an isolate that was idle starts from there. */
  #turn = 0;
  #batchNumber = 0;
  #generation = 0;
  #clock = 0;

  constructor(limits: LaneLimits, events: LaneEvents) {
    this.#limits = limits;
    this.#events = events;
  }

  /** Work that is before a new run. */
  get backlog(): number {
    return this.#waitingItems + this.#runsInFlight;
  }

  get isolates(): Iterable<IsolateState> {
    return this.#isolates.values();
  }

  find(key: string): IsolateState | undefined {
    return this.#isolates.get(key);
  }

  /** The isolate of that key; it comes into being over there with its first batch. */
  isolate(key: string, namespace: string): IsolateState {
    let isolate = this.#isolates.get(key);
    if (!isolate) {
      isolate = new IsolateState(this, key, namespace, ++this.#generation, this.#turn);
      this.#isolates.set(key, isolate);
    }
    return isolate;
  }

  pushed(isolate: IsolateState): void {
    if (isolate.waiting === 1) {
      isolate.served = Math.max(isolate.served, this.#turn); // nobody saves up turns while idle
      this.#ready.add(isolate);
    }
    this.#waitingItems += 1;
    this.#events.pumpSoon();
  }

  retire(isolate: IsolateState): void {
    isolate.isRetiring = true;
    if (isolate.batchesInFlight === 0) this.#evict(isolate);
  }

  /** Sends what may be sent. */
  pump(): void {
    while (this.#hasRoom()) {
      const isolate = this.#nextIsolate();
      if (!isolate) break;
      this.#sendBatch(isolate);
    }
    if (this.#toClose.length > 0) this.#events.send({ batch: 0, isolate: '', generation: 0, close: this.#toClose.splice(0) }, '');
  }

  /** @returns the batch that was answered; undefined when there is no such batch */
  replied(reply: BatchReply): Batch | undefined {
    const batch = this.#batch(reply.batch);
    if (!batch) return undefined;
    this.#batches.splice(this.#batches.indexOf(batch), 1);
    this.#runsInFlight -= batch.runs.length;
    this.#lengthInFlight -= batch.length;
    this.#msInFlight -= batch.expectedMs;
    const { isolate } = batch;
    isolate.batchesInFlight -= 1;
    isolate.served += reply.cpuMs;
    isolate.heap = reply.heap;
    isolate.learn(reply.cpuMs);
    return batch;
  }

  /** After an answer has been dealt with. */
  settled(isolate: IsolateState): void {
    if (isolate.isRetiring && isolate.batchesInFlight === 0 && this.#isolates.get(isolate.key) === isolate) this.#evict(isolate);
  }

  marked(number: number): void {
    const batch = this.#batch(number);
    if (batch) batch.begun = true;
  }

  /**
   * Called at even intervals.
   * @param usedMs what the process has used of the processor; null where nobody tells
   * @returns a batch that was begun and not finished within so many, though the process has had that time: on a machine that is too busy to
   * run it nothing hangs. One that stands still without using the processor is given several times as long.
   */
  watch({ turns, cpuMs }: HangLimit, usedMs: () => number | null): Batch | undefined {
    for (const batch of this.#batches) {
      if (!batch.begun) continue;
      if (batch.turns === 0) batch.usedAtMs = usedMs();
      batch.turns += 1;
      if (batch.turns <= turns) continue;
      const used = batch.usedAtMs === null ? null : usedMs();
      if (used === null || used - batch.usedAtMs! > cpuMs || batch.turns > turns * PATIENCE) return batch;
    }
    return undefined;
  }

  /** The isolate is no more, or shall be no more; what waited for it is forgotten. */
  lose(isolate: IsolateState, close: boolean): void {
    if (this.#isolates.get(isolate.key) !== isolate) return;
    this.#isolates.delete(isolate.key);
    isolate.isLost = true;
    this.#ready.delete(isolate);
    this.#waitingItems -= isolate.waiting;
    if (!isolate.isAlive) return;
    this.#alive -= 1;
    if (close) this.#toClose.push(isolate.key);
  }

  /** The process is no more. @returns what was under way, and the isolates there were */
  reset(): { batches: Batch[]; isolates: IsolateState[] } {
    const all = { batches: this.#batches, isolates: [...this.#isolates.values()] };
    for (const isolate of all.isolates) isolate.isLost = true;
    this.#batches = [];
    this.#isolates.clear();
    this.#ready.clear();
    this.#toClose = [];
    this.#alive = this.#waitingItems = this.#runsInFlight = this.#lengthInFlight = this.#msInFlight = 0;
    return all;
  }

  stats(): LaneStats {
    return { isolates: this.#alive, batchesInFlight: this.#batches.length, waitingItems: this.#waitingItems };
  }

  #hasRoom(): boolean {
    const size = this.#batches.length;
    if (size >= this.#limits.batches || this.#lengthInFlight >= MAX_LENGTH_IN_FLIGHT) return false;
    return size < 2 || this.#msInFlight < MAX_MS_IN_FLIGHT;
  }

  #batch(number: number): Batch | undefined {
    return this.#batches.find((batch) => batch.number === number);
  }

  /** Who has been served least. When there is no room for another isolate, those that exist come first: each of them finishes a turn. */
  #nextIsolate(): IsolateState | undefined {
    const isFull = this.#alive >= MAX_ISOLATES && !this.#findVictim();
    let next: IsolateState | undefined;
    for (const isolate of this.#ready)
      if (!isolate.isRetiring && (isolate.isAlive || !isFull) && (!next || isolate.served < next.served)) next = isolate;
    return next;
  }

  #sendBatch(isolate: IsolateState): void {
    if (!isolate.isAlive) {
      const victim = this.#alive >= MAX_ISOLATES ? this.#findVictim() : undefined;
      if (victim) this.#evict(victim);
      isolate.isAlive = true;
      this.#alive += 1;
    }
    const { items, runs, text, load } = isolate.take(this.#limits.runsPerBatch, this.#limits.memoryBytes);
    if (isolate.waiting === 0) this.#ready.delete(isolate);
    const number = ++this.#batchNumber;
    const length = text.length + load.reduce((sum, [, source]) => sum + source.length, 0);
    const expectedMs = isolate.stepMs;
    this.#batches.push({ number, isolate, runs, length, expectedMs, begun: false, turns: 0, usedAtMs: null });
    this.#waitingItems -= items;
    this.#runsInFlight += runs.length;
    this.#lengthInFlight += length;
    this.#msInFlight += expectedMs;
    this.#turn = isolate.served;
    isolate.served += BATCH_COST_MS;
    isolate.batchesInFlight += 1;
    isolate.lastUsed = ++this.#clock;
    const header: BatchHeader = { batch: number, isolate: isolate.key, generation: isolate.generation };
    if (load.length > 0) header.load = load;
    if (this.#toClose.length > 0) header.close = this.#toClose.splice(0);
    this.#events.send(header, text);
  }

  /** The isolate to make room for another: one that nothing is under way to or from; the least recently used, empty ones first. */
  #findVictim(): IsolateState | undefined {
    let victim: IsolateState | undefined;
    const better = (a: IsolateState, b: IsolateState): boolean => (a.isIdle === b.isIdle ? a.lastUsed < b.lastUsed : a.isIdle);
    for (const isolate of this.#isolates.values())
      if (isolate.isAlive && isolate.batchesInFlight === 0 && isolate.waiting === 0 && (!victim || better(isolate, victim)))
        victim = isolate;
    return victim;
  }

  #evict(isolate: IsolateState): void {
    this.lose(isolate, true);
    this.#events.pumpSoon();
    this.#events.evicted(isolate);
  }
}
