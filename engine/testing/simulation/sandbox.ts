// Programs that are generators of this process instead of isolates, and the sandbox that steps them in their turn.
import type { Answer, RunId } from '../../../runtime/transactions/index.ts';
import type { RunRequest } from '../../../sandbox/index.ts';
import { decodeInner, encodeInner, type ObjectValue, type Value } from '../../../stdlib/values/index.ts';
import type { WireError } from '../../../stdlib/isolate/protocol.ts';
import type { Life, World } from './world.ts';

/** A request of a program. */
export interface Request {
  readonly kind:
    | 'insert'
    | 'insertMany'
    | 'upsert'
    | 'read'
    | 'select'
    | 'list'
    | 'set'
    | 'update'
    | 'updateMany'
    | 'deleteMany'
    | 'publish'
    | 'async'
    | 'attempt'
    | 'ack'
    | 'lock'
    | 'unlock';
  /** The name of a type, of the topic of a publication, of a procedure, or of a lock. */
  readonly type: string;
  readonly value?: Value;
  readonly where?: Value;
  /** How an update's values follow from the row (resources/instances/computed-change.ts). */
  readonly computed?: Value;
  /** The row is read for such an update only. */
  readonly forChange?: boolean;
  /** Whether it is the last effect of a rule, whose value nobody uses. */
  readonly tail?: boolean;
}
/** A simulated program. A failed request throws there. A BEFORE rule returns the changed instance. */
export type Program = (value: ObjectValue) => Generator<Request, Value | void, Value>;

/** A run of a program in this sandbox. */
interface Running {
  readonly request: RunRequest;
  readonly steps: ReturnType<Program>;
  site: number;
  isOpen: boolean;
}

/** How often a run may exceed its limits before it is given up (integrations.md 12.5). */
const MOST_DISTURBED = 2;

/** Steps each run in its turn. */
export class SimulatedSandbox {
  readonly #world: World;
  readonly #life: Life;
  readonly #programs = new Map<string, Program>();
  /** Runs that have made a request. */
  readonly asked = new Set<RunId>();
  /** How often runs of an event have been disturbed. */
  readonly #disturbed = new Map<string, number>();
  /** Chance of a disturbance at each request. */
  harm = 0;
  /** Programs of rules that clients have defined, by their ids. */
  defined: ReadonlyMap<string, Program> = new Map();

  constructor(world: World, life: Life) {
    this.#world = world;
    this.#life = life;
  }

  put(name: string, entry: string, program: Program): void {
    this.#programs.set(`${name} ${entry}`, program);
  }

  start(request: RunRequest): Running {
    const { event, argsJson = '[]', entry = 'main' } = request;
    const name = request.procedure ?? request.program?.id ?? '';
    const program = this.#programs.get(`${name} ${entry}`) ?? this.defined.get(name);
    if (!program) throw new Error('no such program');
    const value = event ? decodeInner(event.json) : (decodeInner(argsJson) as Value[])[0];
    const run: Running = { request, steps: program(value as ObjectValue), site: 0, isOpen: true };
    this.#goOn(run, (steps) => steps.next(null));
    return run;
  }

  answer(run: Running, reply: Answer): void {
    this.#goOn(run, (steps) =>
      'error' in reply ? steps.throw(reply.error) : steps.next(decodeInner('ok' in reply ? reply.ok : reply.list)),
    );
  }

  drop(run: Running): void {
    run.isOpen = false;
  }

  /** Disturbs a run with a request in flight, as a sandbox may: its isolate exceeds its memory, or ends with more than can be repeated. */
  #disturb(run: Running): void {
    const { observer, event, id } = run.request;
    if (!event || !this.#world.chance(this.harm)) return; // not for runs that a caller waits for
    const times = this.#disturbed.get(event.key) ?? 0;
    if (times === MOST_DISTURBED) return;
    this.#disturbed.set(event.key, times + 1);
    const isLost = this.#world.chance(0.5);
    this.#world.onStep?.(`${isLost ? 'loses' : 'harms'} ${id.slice(id.indexOf('/'))}`);
    run.isOpen = false;
    if (isLost) observer.lost?.();
    else observer.fail({ code: 'cascade.execution.memory', message: 'over its memory', params: [], status: 429, frames: [] });
  }

  #goOn(run: Running, step: (steps: ReturnType<Program>) => IteratorResult<Request, Value | void>): void {
    this.#world.later(this.#life, 'step of a run', () => {
      if (!run.isOpen) return;
      const { observer } = run.request;
      try {
        const { done, value } = step(run.steps);
        if (!done) {
          const { kind, tail = false, ...payload } = value;
          this.asked.add(run.request.id);
          observer.op(String(run.site++), 0, kind, encodeInner(payload), tail);
          return this.#disturb(run);
        }
        run.isOpen = false;
        observer.done(encodeInner(value ?? null));
      } catch (error) {
        run.isOpen = false;
        observer.fail({ ...(error as WireError), frames: [] });
      }
    });
  }
}
