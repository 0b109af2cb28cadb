// What the service knows of one isolate: what it holds, who lives in it, and the items that wait to be sent to it.
import type { FrameSettings } from '../stdlib/isolate/index.ts';
import { Fifo } from '../platform/structures/index.ts';
import { Run } from './run.ts';
import { membersFor, Starts } from './starts.ts';
import type { Program, RunEvent, RunOptions } from './types.ts';

/** A run with the isolate it lives in. */
export type LaneRun = Run<IsolateState>;

/** Source and constants that an isolate may hold, characters for each MB of its limit; then it is replaced. */
const MAX_SOURCE_PER_MB = 32_768;
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
}

/** What the runs of a program have in common, as the isolate was last told. */
interface Frame {
  readonly number: number;
  readonly binds: RunEvent['binds'];
  readonly opts: RunOptions;
}

export interface Batch {
  number: number;
  isolate: IsolateState;
  runs: readonly LaneRun[];
  length: number;
  expectedMs: number;
  /** Its mark has come: it was begun. */
  begun: boolean;
  /** Turns of the watch since then. */
  turns: number;
  /** What its process had used of the processor at the first of them; null where nobody tells. */
  usedAtMs: number | null;
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
  /** How many runs live in it. */
  runCount = 0;
  /** Procedures that were asked for, and by whom. */
  readonly asked = new Map<string, LaneRun[]>();
  batchesInFlight = 0;
  /** It was sent something, so it exists over there. */
  isAlive = false;
  /** Nothing more is sent to it: it ends as soon as nothing is under way. */
  isRetiring = false;
  /** It is no more: what is pushed goes nowhere. */
  isLost = false;
  /** CPU time given to it, against that of its neighbours: who has had least is next. */
  served: number;
  /** Used part of the heap, when last told. */
  heap = 0;
  lastUsed = 0;
  /** How long a batch takes, by the last ones. */
  stepMs = 0;
  readonly #owner: Owner;
  /** A run stands for its own beginning. */
  readonly #items = new Fifo<Item | LaneRun>();
  /** A number is never given again, as a batch may begin runs of before and after a change. */
  readonly #frames = { whole: new Map<Program, Frame>(), members: new Map<Program, Frame>() };
  #nextFrame = 0;
  /** By their text: most frames have the same. */
  readonly #settings = new Map<string, number>();
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
    return this.#items.size;
  }

  get isIdle(): boolean {
    return this.runCount === 0 && this.waiting === 0 && this.batchesInFlight === 0;
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

  /** A run with an event begins. */
  pushStart(run: LaneRun): void {
    this.#items.push(run);
    this.#owner.pushed(this);
  }

  push(item: Item): void {
    this.#items.push(item);
    this.#owner.pushed(this);
  }

  /** Disposes it as soon as nothing is in flight; the runs in it restart elsewhere. */
  retire(): void {
    this.#owner.retire(this);
  }

  /** The next batch's worth of items, with all that must come before them. @param memoryBytes what a run may hold unless it says so */
  take(maxRuns: number, memoryBytes: number): { items: number; runs: LaneRun[]; text: string; load: [string, string][] } {
    /** Programs and frames, which are named before anything that uses them. */
    const names: string[] = [];
    const parts: string[] = [];
    const runs: LaneRun[] = [];
    const load: [string, string][] = [];
    const most = Math.min(maxRuns, this.#runsPerBatch);
    const before = this.#items.size;
    let length = 0;
    let starts: Starts | null = null;
    for (let item = this.#items.first; item !== undefined && length < MAX_BATCH_LENGTH; item = this.#items.first) {
      if (item instanceof Run) {
        if (runs.length >= most) break;
        const { request, sliceFuel } = item;
        const { at, opts } = request;
        const event = request.event as RunEvent;
        const program = request.program as Program;
        const members = membersFor(program.module.reads, event);
        const frames = members === null ? this.#frames.whole : this.#frames.members;
        let frame = frames.get(program);
        if (frame === undefined || frame.binds !== event.binds || !isSame(frame.opts, opts)) {
          length += this.#prepare(program, names, load);
          frame = this.#frame(program, event.binds, members, opts, memoryBytes, names);
          frames.set(program, frame);
        }
        if (starts === null || starts.at !== at || starts.fuel !== sliceFuel) {
          if (starts !== null) parts.push(starts.text);
          starts = new Starts(at, sliceFuel);
        }
        length += starts.add(item.wireId, frame.number, request.seed, event, members);
        item.hasBegun = true;
        runs.push(item);
      } else {
        if (runs.length > 0 && runs.length + item.runs.length > most) break;
        for (const run of item.runs) {
          run.hasBegun = true;
          runs.push(run);
        }
        if (item.program) length += this.#prepare(item.program, names, load);
        if (starts !== null) parts.push(starts.text);
        starts = null;
        parts.push(item.text);
        length += item.text.length;
      }
      this.#items.shift();
    }
    if (starts !== null) parts.push(starts.text);
    return { items: before - this.#items.size, runs, text: `[${names.length > 0 ? `${names.join(',')},` : ''}${parts.join(',')}]`, load };
  }

  #frame(
    program: Program,
    binds: RunEvent['binds'],
    members: readonly string[] | null,
    opts: RunOptions,
    memoryBytes: number,
    names: string[],
  ): Frame {
    const number = this.#nextFrame++;
    const { fuel: _fuel, eventArgs: _eventArgs, resource, ...lasting } = opts;
    const settingsJson = JSON.stringify({
      memory: memoryBytes,
      ...lasting,
      binds,
      ...(members !== null && { members }),
    } satisfies FrameSettings);
    let settings = this.#settings.get(settingsJson);
    if (settings === undefined) {
      settings = this.#settings.size;
      this.#settings.set(settingsJson, settings);
      names.push(`["settings",${settings},${settingsJson}]`);
    }
    const text = `["frame",${number},"${this.nameOf(program)}",${settings},${JSON.stringify(resource)}]`;
    this.#sourceLength += text.length;
    names.push(text);
    return { number, binds, opts };
  }

  /** Batches grow while they are quick: a slow one keeps the neighbours waiting, and comes near its time limit. */
  learn(stepMs: number): void {
    this.stepMs += (stepMs - this.stepMs) / 2;
    if (stepMs > LONG_STEP_MS) this.#runsPerBatch = Math.max(1, this.#runsPerBatch >> 1);
    else if (stepMs < LONG_STEP_MS / 5) this.#runsPerBatch = Math.min(MAX_RUNS, this.#runsPerBatch << 1);
  }

  /** @returns the length of what has to be sent along */
  #prepare(program: Program, names: string[], load: [string, string][]): number {
    if (this.#bound.has(program.id)) return 0;
    this.#bound.add(program.id);
    const { hash, source } = program.module;
    names.push(`["bind","${this.nameOf(program)}",${JSON.stringify(hash)},${program.constantsJson}]`);
    let length = program.constantsJson.length;
    if (!this.#modules.has(hash)) {
      this.#modules.add(hash);
      load.push([hash, source]);
      length += source.length;
    }
    this.#sourceLength += length;
    return length;
  }
}

/** Whether two runs of one program can begin in one frame. */
const isSame = (a: RunOptions, b: RunOptions): boolean =>
  a === b ||
  (a.resource === b.resource &&
    a.username === b.username &&
    a.level === b.level &&
    a.service === b.service &&
    a.memory === b.memory &&
    a.depth === b.depth);
