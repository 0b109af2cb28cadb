// One run: what emitted code gets as `$` and built-ins as their context. Emitted code may touch `k` and `fuel` only (runtime-names.ts);
// everything else is between the files of this folder.
import { cutText } from '../values/index.ts';
import type { BuiltinContext, RunFacts } from '../builtins/index.ts';
import type { Value } from '../values/index.ts';
import { LIMITS, limitError, MOST_MESSAGE } from './limits.ts';
import type { RunId, RunSettings } from './protocol.ts';
import { Random } from './random.ts';
import { merged } from './merge.ts';
import { IterableCursor, Sequence } from './sequence.ts';
import type { Reply } from './steps.ts';
import type { HeldState, StateScope } from './state.ts';

/** Where a run leaves what goes out; one a driver. */
export interface Outbox {
  /** One item's JSON text. */
  push(item: string): void;
  /** An item with the length of a value's text, which goes behind all items, in it. */
  pushWith(before: string, text: string, after: string): void;
}

/** That one call counts for, whatever it says. */
const MOST_TURNS = 1e9;

/** The levels' names, for the log. */
const LEVELS: readonly (readonly [number, string])[] = [
  [40, 'ERROR'],
  [30, 'WARN'],
  [20, 'INFO'],
  [10, 'DEBUG'],
  [0, 'TRACE'],
];

export class Run implements BuiltinContext, RunFacts {
  id: RunId = 0;
  options!: RunSettings;
  readonly outbox: Outbox;
  /** The program's constants. */
  k: readonly Value[] = [];
  fuel = 0;
  /** now() */
  at = 0;
  /** Calls on the stack. */
  depth = 0;
  /** The way of calls to the code that runs, as site numbers: `3/0/`. */
  path = '';
  /** The service whose PRIVATE procedures may be called here. */
  service: string | null = null;
  /** The state of the service whose code runs, if it has one. */
  scope: StateScope | null = null;
  /** Arrays and Objects of states that the run works on, by scope and name. */
  held: Map<string, HeldState> | null = null;
  /** Sends what has changed in `held` to the host. */
  flush: (() => Generator<void, void, Reply>) | null = null;
  /** Scopes whose state was found or made. */
  entered: Set<string> | null = null;
  /** The procedure that the run has just asked for; the driver takes it away. */
  awaits: string | null = null;
  /** A limit was hit: no FINALLY runs any more. */
  dead = false;
  /** Until then no value of the run can hold a Sequence. */
  madeSequence = false;
  charged = 0;
  /** Lines that a trace has told of. */
  linesTold = 0;
  #seed = '';
  #sliceFuel = 0;
  #used = 0;
  #sinceSlice = 0;
  #logs = 0;
  #random: Random | null = null;
  #asked: Map<string, number> | null = null;
  #firstSite: string | null = null;
  #warned: Set<string> | null = null;

  constructor(outbox: Outbox) {
    this.outbox = outbox;
  }

  /** As if it had just been made: a run that nothing is left of may stand for the next one. */
  begin(id: RunId, k: readonly Value[], options: RunSettings, at: number, seed: string, fuel: number): this {
    this.id = id;
    this.k = k;
    this.options = options;
    this.at = at;
    this.#seed = seed;
    this.#sliceFuel = this.fuel = fuel;
    this.depth = options.depth ?? 0;
    this.service = options.service ?? null;
    this.path = '';
    this.scope = this.held = this.flush = this.entered = this.awaits = null;
    this.dead = this.madeSequence = false;
    this.charged = this.linesTold = this.#used = this.#sinceSlice = this.#logs = 0;
    this.#random = this.#asked = this.#firstSite = this.#warned = null;
    return this;
  }

  /** The id as JSON text. */
  get idJson(): string {
    return typeof this.id === 'number' ? `${this.id}` : JSON.stringify(this.id);
  }

  /** Fuel since it last gave way. */
  get fuelOfSlice(): number {
    return this.#sliceFuel - this.fuel;
  }

  /** Fuel of the whole run so far. */
  get fuelUsed(): number {
    return this.#used + this.fuelOfSlice;
  }
  get username(): string {
    return this.options.username;
  }
  get namespace(): string {
    return this.options.namespace;
  }
  get memoryLimit(): number {
    return this.options.memory ?? LIMITS.memoryBytes;
  }

  /** A new slice. */
  refuel(): void {
    this.#used = this.fuelUsed;
    this.fuel = this.#sliceFuel;
    this.#sinceSlice = 0;
  }

  /** How often the run asked at this place before. Most runs ask at one place once: that needs no Map. */
  nth(site: string): number {
    if (this.#asked === null) {
      if (this.#firstSite === null) {
        this.#firstSite = site;
        return 0;
      }
      this.#asked = new Map([[this.#firstSite, 1]]);
    }
    const before = this.#asked.get(site) ?? 0;
    this.#asked.set(site, before + 1);
    return before;
  }

  /** @throws the limit, for the run to die of */
  exceed(code: Parameters<typeof limitError>[0], limit: number): never {
    this.dead = true;
    throw limitError(code, this.options.resource, limit);
  }

  // -------------------------------------------------------------- BuiltinContext

  now(): number {
    return this.at;
  }
  random(): number {
    return this.#source().real();
  }
  uuid(): string {
    return this.#source().uuid();
  }
  #source(): Random {
    this.#random ??= new Random(this.#seed);
    return this.#random;
  }
  sequence(elements: Iterable<Value>): Value {
    this.madeSequence = true;
    return new Sequence(() => new IterableCursor(elements[Symbol.iterator]()));
  }
  merge(labelled: readonly (readonly [string, Value])[]): Value {
    this.madeSequence = true;
    return merged(this, labelled);
  }

  /** Much charged means: give way soon. Over the limit the next slice decides; far over it, nothing does. */
  charge(bytes: number): void {
    this.charged += bytes;
    this.#sinceSlice += bytes;
    if (this.#sinceSlice <= LIMITS.chargePerSlice && this.charged <= this.memoryLimit) return;
    this.fuel = 0;
    if (this.charged > 2 * this.memoryLimit || bytes > this.memoryLimit) this.exceed('cascade.execution.memory', this.memoryLimit);
  }

  readonly patternSteps = (): number => LIMITS.patternSteps; // however long the text is: no more can be done without giving way
  spend(turns: number): void {
    this.fuel -= Math.min(turns, MOST_TURNS) >> 0;
  }

  logs(level: number): boolean {
    return level >= (this.options.level ?? 20);
  }
  log(level: number, message: string): void {
    if (!this.logs(level)) return;
    const name = LEVELS.find(([bound]) => level >= bound)?.[1] ?? 'TRACE';
    const text = cutText(message, MOST_MESSAGE);
    this.charge(text.length); // many in one slice are no more than one large one
    this.outbox.push(`["log",${this.idJson},${this.#logs++},"${name}",${JSON.stringify(text)}]`);
  }
  /** What a traced module tells of a line. */
  line(text: string): void {
    this.outbox.push(`["log",${this.idJson},${this.#logs++},"LINE",${JSON.stringify(text)}]`);
  }
  warnOnce(topic: string, message: string): void {
    this.#warned ??= new Set();
    if (this.#warned.has(topic)) return;
    this.#warned.add(topic);
    this.log(30, message);
  }
}
