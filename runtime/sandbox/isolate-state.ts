// What the service knows of one isolate: what it holds, who lives in it, and the items that wait to be sent to it.
import type { Run } from './run.ts';
import type { Program } from './types.ts';

/** A run with the isolate it lives in. */
export type LaneRun = Run<IsolateState>;

/** Source and constants that an isolate may hold, characters for each MB of its limit; then it is replaced. */
const MAX_SOURCE_PER_MB = 16_384;
const MAX_RUNS = 256;
const FIRST_RUNS = 32;
const MAX_BATCH_LENGTH = 1024 * 1024;
/** A batch that takes longer halves the size of the next, one that takes less than a fifth doubles it. */
const LONG_STEP_MS = 100;

export interface Item {
  /** Whom the isolate works for when it takes this item; none when it only has to take notice. */
  runs: readonly LaneRun[];
  text: string;
  /** Must be there before. */
  program?: Program | null;
  event?: { key: string; json: string } | undefined;
}

export interface Batch {
  number: number;
  isolate: IsolateState;
  runs: Set<LaneRun>;
  length: number;
  expectedMs: number;
  /** Its mark has come: it was begun. */
  begun: boolean;
  /** Turns of the watch since then. */
  turns: number;
}

/** The lane that an isolate belongs to, as the isolate needs it. */
export interface Owner {
  pushed(isolate: IsolateState): void;
  retire(isolate: IsolateState): void;
}

export class IsolateState {
  /** The namespace, or more for an isolate that one run has for itself. */
  readonly key: string;
  readonly namespace: string;
  readonly generation: number;
  readonly residents = new Set<LaneRun>();
  /** Procedures that were asked for, and by whom. */
  readonly asked = new Map<string, LaneRun[]>();
  batchesInFlight = 0;
  /** It was sent something, so it exists over there. */
  isAlive = false;
  /** Nothing more is sent to it: it ends as soon as nothing is under way. */
  isRetiring = false;
  /** CPU time given to it, against that of its neighbours: who has had least is next. */
  served: number;
  /** Used part of the heap, when last told. */
  heap = 0;
  lastUsed = 0;
  /** How long a batch takes, by the last ones. */
  stepMs = 0;
  readonly #owner: Owner;
  readonly #items: Item[] = [];
  #next = 0;
  #runsPerBatch = FIRST_RUNS;
  readonly #modules = new Set<string>();
  /** Bound programs, and the short names they have here: an id is a hash of 64 letters, and goes with every start. */
  readonly #names = new Map<string, string>();
  readonly #bound = new Set<string>();
  #sourceLength = 0;

  constructor(owner: Owner, key: string, namespace: string, generation: number, served: number) {
    this.#owner = owner;
    this.key = key;
    this.namespace = namespace;
    this.generation = generation;
    this.served = served;
  }

  get waiting(): number {
    return this.#items.length - this.#next;
  }

  get isIdle(): boolean {
    return this.residents.size === 0 && this.waiting === 0 && this.batchesInFlight === 0;
  }

  holdsTooMuchSource(memoryLimitMb: number): boolean {
    return this.#sourceLength > memoryLimitMb * MAX_SOURCE_PER_MB;
  }

  get isOfOneRun(): boolean {
    return this.key !== this.namespace;
  }

  nameOf(program: Program): string {
    let name = this.#names.get(program.id);
    if (name === undefined) this.#names.set(program.id, (name = `p${this.#names.size}`));
    return name;
  }

  push(item: Item): void {
    this.#items.push(item);
    this.#owner.pushed(this);
  }

  /** It ends as soon as nothing is under way; whoever lives in it then has to begin anew elsewhere. */
  retire(): void {
    this.#owner.retire(this);
  }

  /** The next batch's worth of items, with all that must come before them. */
  take(maxRuns: number): { items: number; runs: Set<LaneRun>; text: string; load: [string, string][] } {
    const parts: string[] = [];
    const runs = new Set<LaneRun>();
    const load: [string, string][] = [];
    const events = new Set<string>();
    const most = Math.min(maxRuns, this.#runsPerBatch);
    const begin = this.#next;
    let length = 0;
    const add = (part: string): void => {
      parts.push(part);
      length += part.length;
    };
    while (this.#next < this.#items.length && length < MAX_BATCH_LENGTH) {
      const item = this.#items[this.#next] as Item;
      if (runs.size > 0 && runs.size + item.runs.length > most) break;
      this.#next += 1;
      for (const run of item.runs) {
        run.hasBegun = true;
        runs.add(run);
      }
      if (item.program) length += this.#prepare(item.program, add, load);
      if (item.event && !events.has(item.event.key)) {
        events.add(item.event.key);
        add(`["event",${JSON.stringify(item.event.key)},${item.event.json}]`);
      }
      add(item.text);
    }
    const items = this.#next - begin;
    this.#compact();
    return { items, runs, text: `[${parts.join(',')}]`, load };
  }

  /** Batches grow while they are quick: a slow one keeps the neighbours waiting, and comes near its time limit. */
  learn(stepMs: number): void {
    this.stepMs += (stepMs - this.stepMs) / 2;
    if (stepMs > LONG_STEP_MS) this.#runsPerBatch = Math.max(1, this.#runsPerBatch >> 1);
    else if (stepMs < LONG_STEP_MS / 5) this.#runsPerBatch = Math.min(MAX_RUNS, this.#runsPerBatch << 1);
  }

  /** @returns the length of the source that has to be sent along */
  #prepare(program: Program, add: (part: string) => void, load: [string, string][]): number {
    if (this.#bound.has(program.id)) return 0;
    this.#bound.add(program.id);
    const { hash, source } = program.module;
    add(`["bind","${this.nameOf(program)}",${JSON.stringify(hash)},${program.constantsJson}]`);
    this.#sourceLength += program.constantsJson.length;
    if (this.#modules.has(hash)) return 0;
    this.#modules.add(hash);
    this.#sourceLength += source.length;
    load.push([hash, source]);
    return source.length;
  }

  #compact(): void {
    if (this.#next < this.#items.length && this.#next < 4096) return;
    this.#items.splice(0, this.#next);
    this.#next = 0;
  }
}
