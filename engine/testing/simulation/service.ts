// One life of a namespace in a simulated world: the real committer, journal, recovery, runs and statements over the simulated store, with
// programs that are generators of this process instead of isolates.

import { pino } from 'pino';
import { fault } from '../../../model/errors/faults.ts';
import type { Actor } from '../../../runtime/context/actor.ts';
import type { Identity } from '../../../resources/api.ts';
import { retryUntilAvailable } from '../../../platform/mongo/index.ts';
import { systemClock } from '../../../platform/clock/index.ts';
import { type Answer, Committer, DuplicateKey, type RunId, type Step, type Unit } from '../../../runtime/transactions/index.ts';
import { Correlations } from '../../../runtime/correlation/index.ts';
import { compiledRule } from '../../../runtime/correlation/testing/machine.ts';
import { instancesOf } from '../../../resources/catalog/catalogue.ts';
import { BATCH } from '../../../resources/instances/bulk.ts';
import { deleteMany } from '../../../resources/instances/delete.ts';
import { insertAtOnce, insertMany, insertOne } from '../../../resources/instances/insert.ts';
import { present } from '../../../resources/instances/present.ts';
import { updateMany, updateOne } from '../../../resources/instances/update.ts';
import { raise } from '../../../runtime/events/events.ts';
import { recordingWrites } from '../../../features/diagnostics/recordings.ts';
import { FeatureRegistry } from '../../../resources/feature.ts';
import { serviceActor } from '../../../runtime/context/service-actor.ts';
import type { InstanceResource, Namespace } from '../../../resources/catalog/types.ts';
import { TypesInForce } from '../../../resources/catalog/types-in-force.ts';
import { asRun, Contention, type Executable, ExecutionTimes, Pressure, type RunHost, Runner } from '../../../runtime/runs/index.ts';
import type { RunRequest, Sandbox } from '../../../sandbox/index.ts';
import type { WireError } from '../../../stdlib/isolate/protocol.ts';
import { TakeOver } from '../../../runtime/cluster/take-over.ts';
import { ImplementedEvents } from '../../../features/services/implemented-events.ts';
import { Locks } from '../../../runtime/shared-state/locks.ts';
import { TriggerIndex } from '../../../runtime/triggers/index.ts';
import { parseType } from '../../../model/types/index.ts';
import { instanceFromBson } from '../../../model/values/index.ts';
import { BSON, type Document, MongoServerError, ObjectId } from 'mongodb';
import { decodeInner, encodeInner, type ObjectValue, type Value } from '../../../stdlib/values/index.ts';
import { INTERRUPTED, type SimulatedStore } from './store.ts';
import type { Life, World } from './world.ts';

/** What a program asks for. */
export interface Request {
  readonly kind: 'insert' | 'insertMany' | 'read' | 'list' | 'set' | 'updateMany' | 'deleteMany' | 'publish' | 'lock' | 'unlock';
  /** A type, the topic of what is published, or the name of a lock. */
  readonly type: string;
  readonly value?: Value;
  readonly where?: Value;
  /** The last effect of a rule, whose value nobody uses. */
  readonly tail?: boolean;
}
/** A request that fails throws there. What a BEFORE rule gives back is what it returns. */
export type Program = (value: ObjectValue) => Generator<Request, Value | void, Value>;

export interface Rule {
  readonly name: string;
  readonly timing: 'when' | 'before';
  readonly path: string;
  readonly program: Program;
}

/** A rule over several events; its program gets the values of the events in the order of their variables, null for what did not come. */
export interface Correlated {
  /** Up to the body, which is the program. */
  readonly text: string;
  readonly program: Program;
  readonly timeout?: Program;
}

/** What is the same in all lives. */
export interface Scenery {
  readonly rules: readonly Rule[];
  readonly correlated: readonly Correlated[];
  readonly types: TypesInForce;
  /** Chance that the sandbox fails a run at one of its requests. */
  readonly harm: number;
  /** Told of a service that takes itself for taken over. */
  readonly onFenced?: (life: Life) => void;
}

BATCH.instances = 2;
const IDENTITY: Identity = { username: 'ann', namespace: 'sim', profiles: [] };
const LOG = pino({ level: 'silent' });

export class SimulatedService {
  readonly space: Namespace;
  readonly runner: Runner;
  readonly committer: Committer;
  readonly #store: SimulatedStore;
  readonly #correlations: Correlations;
  readonly #recorded = new Map<RunId, readonly Step[]>();
  readonly #contention = new Contention();
  readonly #locks = new Locks((run) => this.#contention.leave(run));
  readonly #takeOver: TakeOver;
  readonly #sandbox: SimulatedSandbox;
  #assuming: Promise<void> = Promise.resolve();
  isOpen = false;

  constructor(world: World, store: SimulatedStore, life: Life, epoch: number, { rules, correlated, types, harm, onFenced }: Scenery) {
    this.#store = store;
    const { client, db } = store.connect(life);
    const clock = systemClock; // of simulated time
    const surroundings = {
      typeOf: (name: string) => types.get(name) ?? null,
      builtin: () => undefined,
      namespace: 'sim',
      clock,
      onError: (_rule: unknown, error: unknown) => {
        throw error;
      },
    };
    this.committer = new Committer({
      client,
      db,
      epoch,
      onEvents: (events) => this.runner.begin(this.#correlations.arrive(events)),
      uniqueKeys: (unit) =>
        unit.writes.flatMap((write) =>
          'document' in write && write.document['key'] !== undefined ? [`key=${String(write.document['key'])}`] : [],
        ),
      findTaken: async (units) => this.#taken(units),
      onError: () => undefined,
      onFenced: () => onFenced?.(life),
      isFull: () => null,
      longRunMs: 500,
    });
    const executables = new Map<string, Executable>();
    const indexes = { when: new TriggerIndex(surroundings), before: new TriggerIndex(surroundings) };
    const sandbox = new SimulatedSandbox(world, life);
    sandbox.harm = harm;
    this.#sandbox = sandbox;
    const host: RunHost = {
      namespace: 'sim',
      clock,
      sandbox: sandbox as unknown as Sandbox,
      committer: this.committer,
      contention: this.#contention,
      pressure: new Pressure(),
      executionTimes: new ExecutionTimes(),
      log: LOG,
      conditions: surroundings,
      executable: (rule, program) => executables.get(`${rule} ${program}`) ?? null,
      programFor: () => {
        throw new Error('no condition here takes long');
      },
      conditionFailed: surroundings.onError,
      declined: () => Promise.resolve(),
      perform: (kind, payloadJson, actor) => this.#perform(kind, decodeInner(payloadJson) as ObjectValue, actor),
      changeAtOnce: (kind, payloadJson, doer) => {
        const { type, value } = decodeInner(payloadJson) as ObjectValue;
        return kind === 'insert' ? (insertAtOnce(this.space, this.#resource(String(type)), value as Value, doer)?.unit ?? null) : null;
      },
      release: (run) => this.#locks.freeAll(run),
      holdsLocks: (run) => this.#locks.holds(run),
      present: (instance, actor) => present(this.space, instance, actor),
      takeRecorded: (run) => {
        const steps = this.#recorded.get(run) ?? [];
        this.#recorded.delete(run);
        return steps;
      },
      failure: () => ({ writes: [], events: [] }),
      settle: (_event, _rule, store) => store([]),
      lost: (_event, rule) => {
        throw new TypeError(`the text of ${rule} is lost`);
      },
      poisoned: () => ({ writes: [], events: [] }),
      record: (recording) => recordingWrites(this.space, recording),
      isTraced: () => false,
      logLevel: () => 20,
      serviceOf: (_event, { service }) => service,
      mapOf: () => null,
    };
    const executableOf = (name: string): Executable => ({
      resource: `/rules/${name}`,
      name,
      program: { id: name, module: { hash: name, source: '' }, constantsJson: '[]' },
      map: '',
      service: null,
      identity: IDENTITY,
    });
    for (const { name, timing, path, program } of rules) {
      const executable = executableOf(name);
      sandbox.put(name, 'main', program);
      executables.set(`${name} ${name}`, executable);
      indexes[timing].add({
        name,
        baseName: name,
        version: null,
        triggers: [{ paths: [path], variable: 'e', binds: 'value', condition: null }],
        where: null,
        payload: { executable, binds: 'value' },
      });
    }
    this.#correlations = new Correlations({
      namespace: 'sim',
      cipher: () => null,
      clock,
      committer: this.committer,
      conditions: surroundings,
      log: LOG,
      runs: () => host,
      failed: (_rule, error) => {
        throw error;
      },
      full: (most) => new Error(`more than ${most}`),
      mostOpen: 1_000,
    });
    for (const { text, program, timeout } of correlated) {
      const compiled = compiledRuleOf(`${text} log.info("") ${timeout ? 'TIMEOUT log.info("")' : ''}`);
      const executable = executableOf(compiled.fullName);
      sandbox.put(compiled.fullName, 'main', program);
      if (timeout) sandbox.put(compiled.fullName, 'timeout', timeout);
      executables.set(`${compiled.fullName} ${compiled.fullName}`, executable);
      this.#correlations.put({ compiled, baseName: compiled.fullName, executable });
    }
    const nobody = { has: () => false };
    this.space = {
      name: 'sim',
      features: new FeatureRegistry([]),
      definitions: { get: () => undefined },
      db,
      rows: {
        find: (collection: string, { filter, sort, limit }: Document) =>
          inOneBatch(() =>
            db
              .collection(collection)
              .find(filter, { raw: true, sort, limit: limit as number })
              .toArray(),
          ),
      },
      points: {
        read: async (collection: string, id: string) => {
          const row = await db.collection(collection).findOne({ _id: new ObjectId(id) });
          return row && BSON.serialize(row);
        },
      },
      clock,
      committer: this.committer,
      contention: host.contention,
      runs: host,
      log: LOG,
      types,
      executables,
      ...indexes,
      correlations: this.#correlations,
      implementedEvents: new ImplementedEvents([]),
      subscribers: nobody,
      deliveries: { hears: () => false, attached: (event: unknown) => event },
    } as unknown as Namespace;
    this.runner = new Runner({
      host,
      pressure: host.pressure,
      find: (rule, program) => executables.get(`${rule} ${program}`) ?? null,
      refuse: () => false,
      lost: () => undefined,
    });
    this.#takeOver = new TakeOver(this.space, { client }, this.#recorded);
  }

  /** As the engine does: one take-over after the other, and what fails is tried again by the same process. */
  assume(dead: readonly number[]): Promise<void> {
    this.#assuming = this.#assuming.then(() => this.#assumeUntilDone(dead));
    return this.#assuming;
  }

  async #assumeUntilDone(dead: readonly number[]): Promise<void> {
    for (;;)
      try {
        const events = await this.#takeOver.take(dead);
        if (this.isOpen) return;
        await retryUntilAvailable(() => this.#correlations.restore(this.space.db));
        this.#correlations.start(events);
        this.isOpen = true;
        return;
      } catch (error) {
        if (!(error instanceof MongoServerError && error.code === INTERRUPTED)) throw error;
        await new Promise((resolve) => setTimeout(resolve, 2_000));
      }
  }

  /** A client's INSERT. */
  async insert(type: string, value: Value): Promise<void> {
    await insertOne(this.space, this.#resource(type), value, this.#asClient());
  }

  /** A client's message on a topic. */
  async publish(topic: string, value: Value): Promise<void> {
    const client = this.#asClient();
    await client.commit({ writes: [], events: raise(this.space, `/topics${topic}/publish`, value, client) });
  }

  /** A client's UPDATE of the present instance: it counts on, whatever the number is. */
  async count(type: string, where: ObjectValue, property: string): Promise<void> {
    const resource = this.#resource(type);
    const change = (stored: ObjectValue): ObjectValue => ({ ...stored, [property]: Number(stored[property]) + 1 });
    await updateOne(this.space, resource, () => this.#find(resource, where), change, this.#asClient());
  }

  /** A client's DELETE. */
  async erase(type: string, where: ObjectValue): Promise<void> {
    const client = this.#asClient();
    if ((await deleteMany(this.space, this.#resource(type), where, client)) === null) await asRun('deleteMany', { type, where }, client);
  }

  #asClient(): Actor {
    return { ...serviceActor(this.space), commit: (unit) => this.committer.submit(unit) };
  }

  /** For the report of a world that does not come to an end. */
  get state(): string {
    const { isOpen, runner, committer } = this;
    return `open ${isOpen}, runs ${runner.pending}, units ${committer.waiting}, windows ${this.#correlations.isBusy}`;
  }

  /** Whether a run has asked for anything in this life. */
  hasBegun(run: RunId): boolean {
    return this.#sandbox.asked.has(run);
  }

  get isQuiet(): boolean {
    return this.isOpen && this.runner.pending === 0 && this.committer.waiting === 0 && !this.#correlations.isBusy;
  }

  #resource(name: string) {
    const type = this.space.types.get(name);
    if (!type) throw new Error(`no type ${name}`);
    return instancesOf(type);
  }

  async #perform(kind: string, payload: ObjectValue, actor: Actor): Promise<Answer> {
    const value = payload['value'] ?? null;
    const where = payload['where'] ?? {};
    if (kind === 'lock' || kind === 'unlock') {
      const run = actor.state?.run ?? '';
      if (kind === 'lock') await this.#locks.take(String(payload['type']), run);
      else this.#locks.free(String(payload['type']), run);
      return { ok: 'null' };
    }
    if (kind === 'publish') {
      const events = raise(this.space, `/topics${String(payload['type'])}/publish`, value, actor);
      if (events.length > 0) await actor.commit({ writes: [], events }, { ok: 'null' });
      return { ok: 'null' };
    }
    const resource = this.#resource(String(payload['type']));
    if (kind === 'insert') return { ok: encodeInner(await insertOne(this.space, resource, value, actor)) };
    if (kind === 'list') {
      const found = await this.space.db
        .collection(resource.collection)
        .find(where as Document)
        .toArray();
      const rows = found.map((row) => instanceFromBson(resource.type, BSON.serialize(row)));
      for (const row of rows) actor.reading?.saw(resource.collection, String(row['_id']), BigInt(row['ars_version'] as number));
      return { list: encodeInner(rows) };
    }
    if (kind === 'insertMany') return { ok: encodeInner(await insertMany(this.space, resource, value as Value[], actor)) };
    if (kind === 'deleteMany') return { ok: String(await deleteMany(this.space, resource, where, actor)) };
    const change = (stored: ObjectValue): ObjectValue => ({ ...stored, ...(value as ObjectValue) });
    if (kind === 'updateMany') {
      return { ok: (await updateMany(this.space, resource, where, change, actor, null)) ?? 'null' };
    }
    const find = () => this.#find(resource, where as ObjectValue);
    if (kind === 'set') return { ok: encodeInner(await updateOne(this.space, resource, find, change, actor)) };
    for (;;) {
      const row = await find();
      const id = String(row['_id']);
      if ((await actor.reading?.turn(resource.collection, [id])) === 'read again') continue;
      actor.reading?.saw(resource.collection, id, BigInt(row['ars_version'] as number));
      return { ok: encodeInner(row) };
    }
  }

  async #find(resource: InstanceResource, where: ObjectValue): Promise<ObjectValue> {
    const row = await this.space.db.collection(resource.collection).findOne(where);
    if (!row) throw fault('cascade.resource.not.found', resource.name);
    return instanceFromBson(resource.type, BSON.serialize(row));
  }

  #taken(units: readonly Unit[]): Map<Unit, DuplicateKey> {
    const taken = new Map<Unit, DuplicateKey>();
    for (const unit of units)
      for (const write of unit.writes)
        if (write.op === 'insert' && write.document['key'] !== undefined)
          if (this.#store.rows(write.collection).some((row) => row['key'] === write.document['key']))
            taken.set(unit, new DuplicateKey(write.collection, 'unique_key'));
    return taken;
  }
}

/** A run of a program here. */
interface Running {
  readonly request: RunRequest;
  readonly steps: ReturnType<Program>;
  site: number;
  isOpen: boolean;
}

/** So often a run may be over its limits without being given up (integrations.md 12.5). */
const MOST_DISTURBED = 2;

/** Steps each run when its turn has come. */
class SimulatedSandbox {
  readonly #world: World;
  readonly #life: Life;
  readonly #programs = new Map<string, Program>();
  /** Runs that have asked for something. */
  readonly asked = new Set<RunId>();
  /** Times that runs of an event have been disturbed. */
  readonly #disturbed = new Map<string, number>();
  /** Chance of that at each request. */
  harm = 0;

  constructor(world: World, life: Life) {
    this.#world = world;
    this.#life = life;
  }

  put(name: string, entry: string, program: Program): void {
    this.#programs.set(`${name} ${entry}`, program);
  }

  start(request: RunRequest): Running {
    const { event, argsJson = '[]', entry = 'main' } = request;
    const program = this.#programs.get(`${request.program?.id} ${entry}`);
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

  /** What a sandbox may do to a run whose request is under way: its isolate is over its memory, or is gone with more than can be repeated. */
  #disturb(run: Running): void {
    const { observer, event, id } = run.request;
    if (!event || !this.#world.chance(this.harm)) return; // not of runs that somebody waits for
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

const compiledRules = new Map<string, ReturnType<typeof compiledRule>>();
function compiledRuleOf(text: string): ReturnType<typeof compiledRule> {
  const known = compiledRules.get(text) ?? compiledRule(text);
  compiledRules.set(text, known);
  return known;
}

/** All rows at once, as the reader of rows gives them. */
function inOneBatch(read: () => Promise<Document[]>) {
  const rows = {
    isDone: false,
    async next(): Promise<Document[]> {
      const found = await read();
      rows.isDone = true;
      return found;
    },
    close: async () => undefined,
  };
  return rows;
}

export const typesOf = (shapes: Readonly<Record<string, Readonly<Record<string, string>>>>): TypesInForce => {
  const types = new TypesInForce();
  for (const [name, shape] of Object.entries(shapes)) {
    const properties = Object.fromEntries(
      Object.entries(shape).map(([property, type]) => [property, property === 'key' ? { type, unique: true } : { type }]),
    ) as unknown as ObjectValue;
    types.set(name, parseType({ name, properties }, { types, scalars: new Map() }));
  }
  return types;
};
