// The step function: a batch of items in, what all their runs did out. The same items give the same output, however they are batched
// (design.md 1, mechanisms.md b). It keeps the open runs; nothing else of a run outlives a batch.
import { deepCopy, fromInner, getOwn, isObject, isPlainInner, type ObjectValue, type Value } from '../values/index.ts';
import { encoded, outward } from './operations.ts';
import { Procedures } from './procedures.ts';
import { type Entry, type Factory, Programs } from './programs.ts';
import type { FrameSettings, In, Inner, RunId, RunSettings, StartOptions } from './protocol.ts';
import { resultList } from './result-lists.ts';
import { type Outbox, Run } from './run.ts';
import { makeRuntime, type Runtime } from './runtime.ts';
import type { Reply, Steps } from './steps.ts';
import { failItem } from './wire-errors.ts';

export interface Driver {
  /** @param batch JSON text of an array of In items @returns JSON text of an array of Out items */
  step(batch: string): string;
  /** Called by a module's script. */
  define(mod: string, factory: Factory): void;
}

/** A run that waits: what is resumed when its answer comes. */
interface Task {
  readonly run: Run;
  steps: Steps<Value>;
  /** `value`: the program runs. `text`: its value is being read to its end; what comes is JSON text. */
  gives: 'value' | 'text';
  /** The procedure it waits for. */
  awaits: string | null;
}

/** What runs have in common. `isObject`: they are given the event object, not its value alone. */
interface Frame {
  readonly options: RunSettings;
  readonly isObject: boolean;
  readonly entry: Entry;
  readonly constants: readonly Value[];
}

/** `isShared`: the next run has the same event. */
type Handlers = { [K in In[0]]: (item: Extract<In, [K, ...unknown[]]>, isShared: boolean) => void };

export function createDriver(): Driver {
  const driver = new StepDriver();
  return { step: (batch) => driver.step(batch), define: (mod, factory) => driver.programs.define(mod, factory) };
}

class StepDriver {
  readonly programs: Programs;
  readonly #procedures: Procedures;
  readonly #tasks = new Map<RunId, Task>();
  readonly #settings: FrameSettings[] = [];
  readonly #frames: Frame[] = [];
  /** Runs that wait for a procedure, by its name. */
  readonly #waiting = new Map<string, Set<Task>>();
  #out: string[] = [];
  readonly #outbox: Outbox = { push: (item) => this.#out.push(item) };
  #ended: string[] = [];
  #endedFuel: number[] = [];
  /** That of the last run that began. */
  #event: Value = null;
  #current: Run | null = null;
  #decode: (tree: unknown) => Value = fromInner;
  readonly #handlers = this.#makeHandlers();

  constructor() {
    let runtime: Runtime | null = null;
    this.programs = new Programs(() => (runtime ??= makeRuntime(this.#procedures, () => this.#run())));
    this.#procedures = new Procedures(this.programs);
  }

  step(batch: string): string {
    const items = JSON.parse(batch) as In[];
    this.#decode = isPlainInner(batch) ? (tree) => tree as Value : fromInner;
    for (let i = 0; i < items.length; i++) {
      const item = items[i] as In;
      const next = items[i + 1];
      (this.#handlers[item[0]] as (item: In, isShared: boolean) => void)(item, next?.[0] === 'run' && next[6] === 0);
    }
    this.#event = null;
    if (this.#ended.length > 0) this.#out.push(`["ended",[${this.#ended.join(',')}],[${this.#endedFuel.join(',')}]]`);
    const out = `[${this.#out.join(',')}]`;
    this.#out = [];
    this.#ended = [];
    this.#endedFuel = [];
    return out;
  }

  #run(): Run {
    if (!this.#current) throw new Error('no run is running');
    return this.#current;
  }

  #makeHandlers(): Handlers {
    return {
      bind: ([, program, mod, constants]) => this.programs.bind(program, mod, constants),
      unbind: ([, program]) => this.programs.unbind(program),
      unload: ([, mod]) => this.programs.unload(mod),
      settings: ([, number, settings]) => {
        this.#settings[number] = settings;
      },
      frame: ([, number, program, settings, resource]) => {
        const { binds, ...lasting } = this.#settings[settings] as FrameSettings;
        this.#frames[number] = {
          options: { ...lasting, resource },
          isObject: binds === 'event',
          entry: this.programs.entry(program, 'main'),
          constants: this.programs.constants(program),
        };
      },
      run: ([, id, number, at, seed, fuel, event], isShared) => {
        const frame = this.#frames[number];
        if (!frame) throw new Error(`frame ${number} is not known`);
        const { isObject } = frame;
        if (event !== 0) this.#event = isObject ? eventObject(this.#decode(event[0])) : this.#decode(event[0]);
        const own = !isShared ? this.#event : isObject ? ownCopy(this.#event) : deepCopy(this.#event);
        this.#start(new Run(id, frame.constants, frame.options, { at, seed, fuel }, this.#outbox), frame.entry, [own]);
      },
      start: ([, id, program, entry, args, options]) => {
        const run = new Run(id, this.programs.constants(program), options, options, this.#outbox);
        this.#start(run, this.programs.entry(program, entry), this.#arguments(args, options));
      },
      startProcedure: ([, id, name, args, named, options]) => {
        const run = new Run(id, [], options, options, this.#outbox);
        const values = args && args.map(this.#decode);
        this.#drive(run, this.#procedures.callByName(run, name, values, named && (this.#decode(named) as ObjectValue)));
      },
      procedure: ([, name, info]) => {
        this.#procedures.learn(name, info);
        const waiting = this.#waiting.get(name);
        this.#waiting.delete(name);
        for (const task of waiting ?? []) this.#resume(task, { value: null });
      },
      forget: ([, name]) => this.#procedures.forget(name),
      ok: ([, id, value, at]) => this.#answer(id, at, { value: this.#decode(value) }),
      list: ([, id, rows, at]) => this.#answer(id, at, { rows: resultList(this.#decode(rows) as Value[]) }),
      err: ([, id, error, at]) => this.#answer(id, at, { error }),
      go: ([, id, at, heapBytes]) => this.#answer(id, at, { heapBytes }),
      drop: ([, id]) => this.#forget(id),
    };
  }

  #arguments(args: Inner[], { eventArgs = [] }: StartOptions): Value[] {
    return args.map((arg, i) => (eventArgs.includes(i) ? eventObject(this.#decode(arg)) : this.#decode(arg)));
  }

  // -------------------------------------------------------------- running

  #start(run: Run, { code, isGenerator }: Entry, args: Value[]): void {
    this.#current = run;
    try {
      const made: unknown = code(...([run, ...args] as never[]));
      if (isGenerator) this.#drive(run, made as Steps<Value>);
      else this.#finish(run, made as Value);
    } catch (error) {
      this.#fail(run, error);
    } finally {
      this.#current = null;
    }
  }

  #drive(run: Run, steps: Steps<Value>): void {
    const task: Task = { run, steps, gives: 'value', awaits: null };
    this.#tasks.set(run.id, task);
    this.#resume(task, { value: null });
  }

  #answer(id: RunId, at: number, reply: Reply): void {
    const task = this.#tasks.get(id);
    if (!task) return; // dropped, and the answer was on its way
    task.run.at = at;
    this.#resume(task, reply);
  }

  #resume(task: Task, reply: Reply): void {
    const { run } = task;
    this.#current = run;
    try {
      const result = task.steps.next(reply);
      if (!result.done) this.#noteWaiting(task);
      else if (task.gives === 'text') this.#done(run, result.value as string);
      else this.#finish(run, result.value);
    } catch (error) {
      this.#fail(run, error);
    } finally {
      this.#current = null;
    }
  }

  #noteWaiting(task: Task): void {
    const name = task.run.awaits;
    if (name === null) return;
    task.run.awaits = null;
    task.awaits = name;
    const waiting = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, waiting.add(task));
  }

  /** The value goes out as text; Sequences in it are read first, which may take further steps. */
  #finish(run: Run, value: Value | undefined): void {
    if (value === undefined || value === null) this.#end(run);
    else if (!run.madeSequence) this.#done(run, outward(run, value));
    else {
      const task: Task = { run, steps: encoded(run, value), gives: 'text', awaits: null };
      this.#tasks.set(run.id, task);
      this.#resume(task, { value: null });
    }
  }

  #done(run: Run, value: string): void {
    this.#tasks.delete(run.id);
    this.#out.push(`["done",${run.idJson},${value},${run.fuelUsed}]`);
  }
  #end(run: Run): void {
    this.#tasks.delete(run.id);
    this.#ended.push(run.idJson);
    this.#endedFuel.push(run.fuelUsed);
  }

  #fail(run: Run, error: unknown): void {
    this.#tasks.delete(run.id);
    this.#out.push(failItem(run, error));
  }

  #forget(id: RunId): void {
    const task = this.#tasks.get(id);
    if (!task) return;
    this.#tasks.delete(id);
    if (task.awaits !== null) this.#waiting.get(task.awaits)?.delete(task);
  }
}

/** Programs read the payload under both names (language.md 6.1). */
function eventObject(value: Value): Value {
  if (isObject(value) && Object.hasOwn(value, 'value') && Object.hasOwn(value, 'path') && !Object.hasOwn(value, 'newValue'))
    value.newValue = getOwn(value, 'value');
  return value;
}

/** A copy in which `value` and `newValue` are one object again. */
function ownCopy(event: Value): Value {
  if (!isObject(event) || !Object.hasOwn(event, 'newValue')) return deepCopy(event);
  const { newValue: _same, ...rest } = event;
  const copy = deepCopy(rest) as ObjectValue;
  copy.newValue = getOwn(copy, 'value');
  return copy;
}
