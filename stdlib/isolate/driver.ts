// The step function: a batch of items in, what all their runs did out. The same items give the same output, however they are batched
// (design.md 1, mechanisms.md b). It keeps the open runs; nothing else of a run outlives a batch.
import { deepCopy, fromInner, getOwn, isObject, isPlainInner, type ObjectValue, type Value } from '../values/index.ts';
import { failing, namesSequence } from './failing.ts';
import { encoded, encodedForNode, outward } from './operations.ts';
import { Procedures } from './procedures.ts';
import { type Entry, type Factory, Programs } from './programs.ts';
import type { FrameSettings, In, Inner, RunId, RunSettings, StartOptions } from './protocol.ts';
import { resultList } from './result-lists.ts';
import { type Outbox, Run } from './run.ts';
import { makeRuntime, type Runtime } from './runtime.ts';
import type { Reply, Steps } from './steps.ts';
import { failItem } from './wire-errors.ts';

export interface Driver {
  /** @param batch JSON text of an array of In items @returns an array of Out items and their texts (protocol.ts) */
  step(batch: string): string;
  /** Called by a module's script. */
  define(mod: string, factory: Factory): void;
}

/** A run that waits: what is resumed when its answer comes. */
interface Task {
  readonly run: Run;
  steps: Steps<Value>;
  /**
   * `value`: the program runs. `text`: its value is being read to its end; what comes is JSON text. `failure`: the same of what its error
   * names; what comes is the item.
   */
  gives: 'value' | 'text' | 'failure';
  /** The procedure it waits for. */
  awaits: string | null;
}

/** What runs have in common. `isObject`: they are given the event object, not its value alone. */
interface Frame {
  readonly options: RunSettings;
  readonly isObject: boolean;
  /** Of the event's value; null: all of it is sent. */
  readonly members: readonly string[] | null;
  readonly entry: Entry;
  readonly constants: readonly Value[];
}

type Handlers = { [K in In[0]]: (item: Extract<In, [K, ...unknown[]]>) => void };

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
  /** Of the items of `#out` that name them. */
  #texts: string[] = [];
  readonly #outbox: Outbox = {
    push: (item) => this.#out.push(item),
    pushWith: (before, text, after) => {
      this.#out.push(`${before}${text.length}${after}`);
      this.#texts.push(text);
    },
  };
  /** Those that ended, as a number and how many follow it. */
  #ended: (RunId | number)[] = [];
  #endedFuel = 0;
  /** One that nothing is left of: most bodies neither ask nor wait, and need none of their own. */
  #spare: Run | null = null;
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
    for (const item of items) (this.#handlers[item[0]] as (item: In) => void)(item);
    if (this.#ended.length > 0) this.#out.push(`["ended",${JSON.stringify(this.#ended)},${this.#endedFuel}]`);
    const listed = `[${this.#out.join(',')}]`;
    const out = this.#texts.length > 0 ? `${listed}\n${this.#texts.join('')}` : listed;
    this.#out = [];
    this.#texts = [];
    this.#ended = [];
    this.#endedFuel = 0;
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
        const common = this.#settings[settings] as FrameSettings;
        this.#frames[number] = {
          options: optionsOf(common, resource),
          isObject: common.binds === 'event',
          members: common.members ?? null,
          entry: this.programs.entry(program, 'main'),
          constants: this.programs.constants(program),
        };
      },
      runs: ([, at, fuel, runs, events]) => this.#startAll(at, fuel, runs, events),
      start: ([, id, program, entry, args, options]) => {
        const run = this.#newRun(id, this.programs.constants(program), options);
        this.#start(run, this.programs.entry(program, entry), this.#arguments(args, options));
      },
      startProcedure: ([, id, name, args, named, options]) => {
        const run = this.#newRun(id, [], options);
        const values = args && args.map(this.#decode);
        this.#drive(
          run,
          this.#procedures.callByName(
            run,
            name,
            values,
            named && (this.#decode(named) as ObjectValue),
            options.executed?.map(this.#decode),
          ),
        );
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

  #newRun(id: RunId, constants: readonly Value[], options: StartOptions): Run {
    return new Run(this.#outbox).begin(id, constants, options, options.at, options.seed, options.fuel);
  }

  #startAll(at: number, fuel: number, runs: readonly unknown[], events: readonly unknown[]): void {
    const decode = this.#decode;
    let event: Value = null;
    let nextEvent = 0;
    for (let i = 0; i < runs.length; ) {
      const turned = runs[i + 1] as number;
      const frame = this.#frames[turned < 0 ? ~turned : turned];
      if (!frame) throw new Error(`frame ${turned} is not known`);
      const { options, constants, entry, isObject, members } = frame;
      const run = (this.#spare ?? new Run(this.#outbox)).begin(runs[i] as RunId, constants, options, at, runs[i + 2] as string, fuel);
      this.#spare = null;
      i += 3;
      let own: Value;
      if (members !== null) {
        const value: ObjectValue = {};
        for (let m = 0; m < members.length; m++) value[members[m] as string] = decode(runs[i++]);
        own = isObject ? { value, newValue: value } : value;
      } else {
        if (turned >= 0) event = isObject ? eventObject(decode(events[nextEvent++])) : decode(events[nextEvent++]);
        const isShared = (runs[i + 1] as number) < 0; // the next has the same
        own = !isShared ? event : isObject ? ownCopy(event) : deepCopy(event);
      }
      this.#startOn(run, entry, own);
    }
  }

  #start(run: Run, { code, isGenerator }: Entry, args: Value[]): void {
    this.#current = run;
    try {
      this.#begun(run, isGenerator, code(...([run, ...args] as never[])));
    } catch (error) {
      this.#fail(run, error);
    } finally {
      this.#current = null;
    }
  }

  /** The same with one argument: an event. */
  #startOn(run: Run, { code, isGenerator }: Entry, event: Value): void {
    this.#current = run;
    try {
      this.#begun(run, isGenerator, (code as (run: Run, event: Value) => unknown)(run, event));
    } catch (error) {
      this.#fail(run, error);
    } finally {
      this.#current = null;
    }
  }

  #begun(run: Run, isGenerator: boolean, made: unknown): void {
    if (isGenerator) this.#drive(run, made as Steps<Value>);
    else if ((made === undefined || made === null) && !run.madeSequence) {
      this.#noteEnded(run);
      this.#spare = run;
    } else this.#finish(run, made as Value);
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
      else if (task.gives === 'failure') this.#failed(run, result.value as string);
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
      const steps = run.options.toNode ? encodedForNode(run, value) : encoded(run, value);
      const task: Task = { run, steps, gives: 'text', awaits: null };
      this.#tasks.set(run.id, task);
      this.#resume(task, { value: null });
    }
  }

  #done(run: Run, value: string): void {
    this.#tasks.delete(run.id);
    this.#outbox.pushWith(`["done",${run.idJson},`, value, `,${run.fuelUsed}]`);
  }

  #end(run: Run): void {
    this.#tasks.delete(run.id);
    this.#noteEnded(run);
  }

  #noteEnded({ id, fuelOfSlice }: Run): void {
    const ended = this.#ended;
    const last = ended.length - 2;
    if (typeof id === 'number' && last >= 0 && ended[last] === id - (ended[last + 1] as number)) (ended[last + 1] as number)++;
    else ended.push(id, 1);
    this.#endedFuel += fuelOfSlice;
  }

  /** What the error names goes out with it; Sequences there are read first. */
  #fail(run: Run, error: unknown): void {
    if (!run.madeSequence || run.dead || !namesSequence(error)) return this.#failed(run, failItem(run, error));
    const task: Task = { run, steps: failing(run, error), gives: 'failure', awaits: null };
    this.#tasks.set(run.id, task);
    this.#resume(task, { value: null });
  }

  #failed(run: Run, item: string): void {
    this.#tasks.delete(run.id);
    this.#out.push(item);
  }

  #forget(id: RunId): void {
    const task = this.#tasks.get(id);
    if (!task) return;
    this.#tasks.delete(id);
    if (task.awaits !== null) this.#waiting.get(task.awaits)?.delete(task);
  }
}

/** Written out, so that those of all frames have one shape, in which members are found at once. */
const optionsOf = (settings: FrameSettings, resource: string): RunSettings => ({
  memory: settings.memory,
  level: settings.level,
  namespace: settings.namespace,
  username: settings.username,
  resource,
  service: settings.service,
  depth: settings.depth,
});

/** Programs read the payload under both names (language.md 6.1). */
function eventObject(value: Value): Value {
  if (isObject(value) && Object.hasOwn(value, 'value') && !Object.hasOwn(value, 'newValue')) value.newValue = getOwn(value, 'value');
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
