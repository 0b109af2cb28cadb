// `--core`: the index of the rules and the sandbox alone at full speed: no network, no login, no database. A run ends with its rule, or at
// its first request to the store.
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { LogHistogram } from '../../../platform/structures/index.ts';
import { prepareInsert } from '../../../model/types/index.ts';
import { parseJson } from '../../../model/values/index.ts';
import { eventObject } from '../../../runtime/events/index.ts';
import { openSandbox, type OpenRun, type Sandbox } from '../../../sandbox/index.ts';
import { encodeInner, type ObjectValue, type Value } from '../../../stdlib/values/index.ts';
import { UsageError } from '../terminal.ts';
import { type CoreProject, NAMESPACE, openCoreProject, type Ready } from './core-project.ts';
import type { BenchEvent } from './events.ts';
import type { EventSource } from './measure.ts';

/** Bound of the runs in progress: that of a namespace in a service. */
const IN_FLIGHT = 2_000;
/** Bound of the events; they are made before the clock runs, and repeated. */
const MOST_EVENTS = 20_000;
/** Number of events between two looks at the clock. */
const BATCH = 64;

interface Prepared {
  readonly path: string;
  readonly value: Value;
}

export interface CoreRound {
  /** Events per second through the index alone. */
  readonly indexRate: number;
  readonly rate: number;
  /** Runs per second, of all rules. */
  readonly runRate: number;
  readonly rules: readonly CoreRule[];
}

export interface CoreRule {
  readonly rule: string;
  /** Durations from the event to the end of the run, with the other runs in progress. */
  readonly durations: LogHistogram;
  /** Runs that reached their end; `asked` ended at a request to the store; `failed` had an error. */
  readonly ended: number;
  readonly asked: number;
  readonly failed: number;
}

export interface Core extends AsyncDisposable {
  readonly notes: readonly string[];
  round(seconds: number): Promise<CoreRound>;
}

/** @throws UsageError when an event does not belong to the project */
export async function openCore(root: string, source: EventSource, lanes?: number): Promise<Core> {
  const project = await openCoreProject(root);
  if (project.rules === 0) throw new UsageError(`${root} has no rules that --core can measure.`);
  const events = Array.from({ length: MOST_EVENTS }, () => prepared(source.next(), project));
  const sandbox = await openSandbox({
    log: pino({ level: 'silent' }),
    resolveProcedure: (_namespace, name) => Promise.resolve(project.procedures.get(name) ?? null),
    ...(lanes !== undefined && { lanes }),
  });
  return {
    notes: project.notes,
    async round(seconds) {
      const matching = match(project, events, (seconds * 1_000) / 4);
      const running = new Running(project, sandbox, events);
      return { indexRate: matching, ...(await running.run((seconds * 3_000) / 4)) };
    },
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
}

/** The event as the service hands it to the index. */
function prepared({ on, value }: BenchEvent, { types }: CoreProject): Prepared {
  const body = parseJson(JSON.stringify(value));
  if ('topic' in on) return { path: `/topics${on.topic}/publish`, value: body };
  const type = types.get(on.type);
  if (!type) throw new UsageError(`The project has no type ${on.type}.`);
  try {
    return { path: `/types/${on.type}/insert`, value: { _id: randomUUID(), ...prepareInsert(type, body) } };
  } catch (error) {
    throw new UsageError(`An event is no ${on.type}: ${(error as Error).message}`);
  }
}

const objectOf = ({ path, value }: Prepared, uuid: string): ObjectValue => eventObject({ uuid, path, atMs: Date.now() }, value, NAMESPACE);

/** @returns events per second */
function match({ index }: CoreProject, events: readonly Prepared[], ms: number): number {
  const begunMs = performance.now();
  let done = 0;
  do
    for (let n = 0; n < BATCH; n++, done++) {
      const event = events[done % events.length] as Prepared;
      index.match(event.path, event.value, () => objectOf(event, 'event'));
    }
  while (performance.now() - begunMs < ms);
  return (1_000 * done) / (performance.now() - begunMs);
}

type Ended = 'ended' | 'asked' | 'failed';

class Running {
  readonly #project: CoreProject;
  readonly #sandbox: Sandbox;
  readonly #events: readonly Prepared[];
  readonly #rules = new Map<string, { durations: LogHistogram } & Record<Ended, number>>();
  #sent = 0;
  #open = 0;
  #runs = 0;
  #untilMs = 0;
  #over: () => void = () => undefined;

  constructor(project: CoreProject, sandbox: Sandbox, events: readonly Prepared[]) {
    this.#project = project;
    this.#sandbox = sandbox;
    this.#events = events;
  }

  async run(ms: number): Promise<Omit<CoreRound, 'indexRate'>> {
    const begunMs = performance.now();
    this.#untilMs = begunMs + ms;
    const over = new Promise<void>((resolve) => (this.#over = resolve));
    this.#pump();
    await over;
    const seconds = (performance.now() - begunMs) / 1_000;
    const rules = [...this.#rules].map(([rule, counts]) => ({ rule, ...counts }));
    return { rate: this.#sent / seconds, runRate: this.#runs / seconds, rules };
  }

  /** Starts runs up to the bound. Where no event matches a rule it yields once per batch. */
  #pump(): void {
    let batch = 0;
    while (this.#open < IN_FLIGHT && performance.now() < this.#untilMs) {
      if (batch++ === IN_FLIGHT) return void setImmediate(() => this.#pump());
      this.#send(this.#events[this.#sent++ % this.#events.length] as Prepared);
    }
    if (this.#open === 0) this.#over();
  }

  #send(event: Prepared): void {
    const uuid = `0b0b6f0e-1b1c-4d1e-8a0b-${String(this.#sent).padStart(12, '0')}`;
    const fromMs = performance.now();
    for (const { rule, asks } of this.#project.index.match(event.path, event.value, () => objectOf(event, uuid)))
      if (!asks) this.#start(event, uuid, rule.name, rule.payload as Ready, fromMs);
  }

  #start(event: Prepared, uuid: string, name: string, { program, opts, binds }: Ready, fromMs: number): void {
    const isValue = binds.get(event.path) === 'value';
    this.#open++;
    this.#runs++;
    let run: OpenRun | null = null;
    const end = (how: Ended): void => {
      if (how === 'asked' && run) this.#sandbox.drop(run);
      this.#end(name, how, performance.now() - fromMs);
    };
    const json = (): string => encodeInner(isValue ? event.value : objectOf(event, uuid));
    run = this.#sandbox.start({
      id: `${uuid}/${name}/${this.#runs}`,
      namespace: NAMESPACE,
      program,
      argsJson: '[]',
      event: {
        key: isValue ? uuid : `${uuid}/1`,
        binds: isValue ? 'value' : 'event',
        ...(isValue && { value: event.value }),
        get json() {
          return json();
        },
      },
      at: Date.now(),
      seed: uuid,
      opts,
      observer: { op: () => end('asked'), log: () => undefined, done: () => end('ended'), fail: () => end('failed') },
    });
  }

  #end(name: string, how: Ended, ms: number): void {
    this.#open--;
    const counts = this.#rules.get(name) ?? { durations: new LogHistogram(), ended: 0, asked: 0, failed: 0 };
    this.#rules.set(name, counts);
    counts[how]++;
    counts.durations.add(ms);
    this.#pump();
  }
}
