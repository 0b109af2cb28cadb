// One life of a namespace in a simulated world: the real committer, journal, recovery, runs and statements over the simulated store, with
// programs that are generators of this process instead of isolates.

import { pino } from 'pino';
import type { Actor } from '../../../runtime/context/actor.ts';
import type { Identity } from '../../../resources/api.ts';
import { retryUntilAvailable } from '../../../platform/mongo/index.ts';
import { attemptOf, Committer, DuplicateKey, type RunId, type Step, type UnitOfWork } from '../../../runtime/transactions/index.ts';
import { Correlations } from '../../../runtime/correlation/index.ts';
import { compiledRule } from '../../../runtime/correlation/testing/machine.ts';
import { BATCH } from '../../../resources/instances/bulk.ts';
import { deleteMany } from '../../../resources/instances/delete.ts';
import { insertAtOnce, insertOne } from '../../../resources/instances/insert.ts';
import { present } from '../../../resources/operations/present.ts';
import { updateOne } from '../../../resources/instances/update.ts';
import { carryOutIdempotently } from '../../../resources/requests/idempotency.ts';
import { DEFINITIONS, DefinitionStore } from '../../../resources/catalog/definition-store.ts';
import { RULE_RIGHTS, RuleRights } from '../../../resources/access/rule-rights.ts';
import { FeatureStates } from '../../../resources/states.ts';
import { deadLetter } from '../../../features/delivery/dead-letters.ts';
import { Deliveries } from '../../../features/delivery/deliveries.ts';
import { delivery } from '../../../features/delivery/feature.ts';
import { DELIVERIES_STATE } from '../../../features/delivery/namespace-state.ts';
import { schedules } from '../../../features/schedules/feature.ts';
import { SCHEDULE } from '../../../features/schedules/namespace-state.ts';
import { RuleGraph } from '../../../features/rules/rule-graph.ts';
import { RULE_GRAPH } from '../../../features/rules/namespace-state.ts';
import { rules as rulesFeature } from '../../../features/rules/feature.ts';
import { loadRule } from '../../../features/rules/rules-kind.ts';
import { types as typesFeature } from '../../../features/types/feature.ts';
import { loadType } from '../../../features/types/types-kind.ts';
import { INDEX_BUILDS, IndexBuilds } from '../../../resources/collections/index.ts';
import { ProgramStore } from '../../../runtime/programs/program-store.ts';
import { programOf } from '../../../runtime/programs/programs.ts';
import type { CompiledRule } from '../../../compiler/index.ts';
import { Schedule } from '../../../features/schedules/schedule.ts';
import { Listeners } from '../../../runtime/events/listeners.ts';
import { ASYNC, raise } from '../../../runtime/events/events.ts';
import { find, perform, resourceOf } from './performing.ts';
import { recordingWrites } from '../../../features/diagnostics/recordings.ts';
import { FeatureRegistry } from '../../../resources/catalog/feature.ts';
import { serviceActor } from '../../../runtime/context/service-actor.ts';
import type { Namespace } from '../../../resources/catalog/types.ts';
import { TypesInForce } from '../../../resources/catalog/types-in-force.ts';
import {
  runDurably,
  Contention,
  ErrorBreaker,
  ExecutionTimes,
  NO_LIMITS,
  Backpressure,
  type RunHost,
  Runner,
} from '../../../runtime/runs/index.ts';
import type { Executable } from '../../../runtime/programs/executable.ts';
import type { Sandbox } from '../../../sandbox/index.ts';
import { fence, TakeOver } from '../../../runtime/cluster/take-over.ts';
import { ImplementedEvents } from '../../../features/services/implemented-events.ts';
import { Locks, type LockUser } from '../../../runtime/shared-state/locks.ts';
import { TriggerIndex } from '../../../runtime/triggers/index.ts';
import { parseType } from '../../../model/types/index.ts';
import { fromBson } from '../../../model/values/index.ts';
import { BSON, type Document, MongoServerError, ObjectId } from 'mongodb';
import { decodeInner, type ObjectValue, type Value } from '../../../stdlib/values/index.ts';
import { type Program, SimulatedSandbox } from './sandbox.ts';
import { INTERRUPTED, type SimulatedStore } from './store/index.ts';
import { steadyClock } from './timers.ts';
import type { Life, World } from './world.ts';

export interface Rule {
  readonly name: string;
  readonly timing: 'when' | 'before';
  readonly path: string;
  readonly program: Program;
}

/**
 * A rule over several events; its program gets the values of the events in the order of their variables, null for events that did not
 * arrive.
 */
export interface Correlated {
  /** The text of the rule before its body, which is the program. */
  readonly text: string;
  readonly program: Program;
  readonly timeout?: Program;
}

/** The parts that are the same in all lives. */
export interface Scenery {
  readonly rules: readonly Rule[];
  readonly correlated: readonly Correlated[];
  readonly types: TypesInForce;
  /** Chance that the sandbox fails a run at one of its requests. */
  readonly harm: number;
  /** Procedures for EXECUTE ASYNC, by name. */
  readonly procedures?: Readonly<Record<string, Program>>;
  readonly topics?: Readonly<Record<string, ObjectValue>>;
  /** The program for the text of a rule that a client defines. */
  readonly definable?: (text: string) => Program;
  /** Chance that a listener to committed events fails. */
  readonly failing?: number;
  /** Bound of the runs that are open at one time. */
  readonly mostOpen?: number;
  /** Called with a run whose text is lost. */
  readonly onLost?: (rule: string) => void;
  /** Called when a service is fenced. */
  readonly onFenced?: (life: Life) => void;
}

BATCH.instances = 2;
const IDENTITY: Identity = { username: 'ann', namespace: 'sim', profiles: [] };
/** The grace period of a text that is out of force. */
const GRACE_MS = 500;
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
  readonly #definitions = new DefinitionStore();
  readonly #deliveries: Deliveries;
  readonly #schedule: Schedule;
  readonly #sandbox: SimulatedSandbox;
  #resuming: Promise<void> = Promise.resolve();
  #isLoaded = false;
  #isSweeping = false;
  isOpen = false;

  constructor(world: World, store: SimulatedStore, life: Life, epoch: number, scenery: Scenery) {
    const {
      rules,
      correlated,
      types,
      harm,
      onFenced,
      onLost,
      procedures = {},
      topics = {},
      definable,
      failing = 0,
      mostOpen = 2_000,
    } = scenery;
    this.#store = store;
    const { client, db } = store.connect(life);
    const clock = steadyClock;
    const inForce = new TypesInForce();
    for (const [name, type] of types) inForce.set(name, type);
    const environment = {
      typeOf: (name: string) => inForce.get(name) ?? null,
      builtin: () => undefined,
      namespace: 'sim',
      clock,
      onError: (_rule: unknown, error: unknown) => {
        throw error;
      },
    };
    const listeners = new Listeners((error) => {
      if (!(error instanceof Error) || error.message !== 'a listener fails') throw error;
    });
    const deliveries = new Deliveries({
      space: () => this.space,
      epoch,
      present: Object.assign(() => ({ valueJson: 'null' }) as never, { long: () => null }),
      mayListen: () => true,
      resend: () => null,
      isOpen: (event, rule) => this.runner.isOpen(event, rule),
    });
    const states = new FeatureStates();
    states.set(DELIVERIES_STATE, deliveries);
    states.set(RULE_GRAPH, new RuleGraph());
    states.set(RULE_RIGHTS, new RuleRights(() => this.space));
    states.set(INDEX_BUILDS, new IndexBuilds(db));
    this.#schedule = states.set(SCHEDULE, new Schedule(() => this.space));
    this.#deliveries = deliveries;
    this.committer = new Committer({
      client,
      db,
      epoch,
      onEvents: (events, fresh) => {
        // A failing listener before the others must not matter: the commit stands.
        listeners.call('one that fails', () => {
          if (world.chance(failing)) throw new Error('a listener fails');
        });
        const begun = listeners.call('correlation', () => this.#correlations.arrive(events)) ?? events;
        listeners.call('rules', () => this.runner.begin(begun));
        listeners.call('deliveries', () => deliveries.committed(fresh));
      },
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
    const indexes = { when: new TriggerIndex(environment), before: new TriggerIndex(environment) };
    const sandbox = new SimulatedSandbox(world, life);
    sandbox.harm = harm;
    this.#sandbox = sandbox;
    sandbox.defined = DEFINED;
    const host: RunHost = {
      namespace: 'sim',
      clock,
      sandbox: sandbox as unknown as Sandbox,
      committer: this.committer,
      contention: this.#contention,
      backpressure: new Backpressure(),
      executionTimes: new ExecutionTimes(),
      errorBreaker: new ErrorBreaker(() => clock.now()),
      limits: () => NO_LIMITS,
      log: LOG,
      conditions: environment,
      executable: (rule, program) => executables.get(`${rule} ${program}`) ?? null,
      programFor: () => {
        throw new Error('no condition here takes long');
      },
      conditionFailed: environment.onError,
      declined: (actor) => deliveries.acknowledgeRun(actor),
      perform: (kind, payloadJson, actor) => perform(this.space, this.#locks, kind, decodeInner(payloadJson) as ObjectValue, actor),
      changeAtOnce: (kind, payloadJson, initiator) => {
        const { type, value } = decodeInner(payloadJson) as ObjectValue;
        if (kind !== 'insert') return null;
        const ready = insertAtOnce(this.space, resourceOf(this.space, String(type)), value as Value, initiator);
        return ready && 'unit' in ready ? ready.unit : null;
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
      settle: (event, rule, store) => deliveries.settle(event, `/rules/${rule}`, store),
      lost: (_event, rule) => onLost?.(rule),
      poisoned: (event, target, error) => deadLetter(this.space, { event, target, reason: 'poison', error, deliveries: attemptOf(event) }),
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
      conditions: environment,
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
    for (const [name, program] of Object.entries(procedures)) {
      sandbox.put(name, 'main', program);
      const { program: _, ...asked } = executableOf(name);
      executables.set(`${name} ${ASYNC}`, {
        ...asked,
        program: { id: ASYNC, module: { hash: ASYNC, source: '' }, constantsJson: '[]' },
        procedure: name,
      });
    }
    for (const [name, topic] of Object.entries(topics)) this.#definitions.put('topics', name, topic);
    const nobody = { has: () => false, gone: () => undefined };
    /** The compiled text; its program is known to this process from then on, and to others once they have read it from the store. */
    const compile = (text: string): CompiledRule => {
      const rule = compiledRuleOf(text);
      const { id } = programOf(rule.module, '');
      if (definable) DEFINED.set(id, definable(text));
      return rule;
    };
    this.space = {
      name: 'sim',
      clock,
      log: LOG,
      storage: {
        db,
        cipher: null,
        rows: {
          heldBytes: 0,
          hold: () => ({ add: () => undefined, [Symbol.dispose]: () => undefined }),
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
        equals: { read: async () => null },
      },
      catalog: {
        features: new FeatureRegistry([delivery, schedules, rulesFeature, typesFeature]),
        types: inForce,
        scalars: new Map(),
        definitions: this.#definitions,
      },
      installation: { rightsOf: () => IDENTITY },
      transactions: this.committer,
      execution: {
        contention: host.contention,
        sharedState: { isUnderLock: (user: LockUser) => this.#locks.isUnderLock(user) },
        runs: host,
        executables,
        programs: new ProgramStore({ db, executables, epoch, committer: this.committer, graceMs: GRACE_MS }),
        compilations: { compile: async (text: string) => compile(text), load: compile, keep: async () => undefined },
      },
      events: {
        ...indexes,
        correlations: this.#correlations,
        implementedEvents: new ImplementedEvents([], () => true),
        subscribers: nobody,
        deliveries,
      },
      states,
    } as unknown as Namespace;
    for (const [key, executable] of [...executables]) this.space.execution.programs.enforce(key, executable, clock.now());
    this.runner = new Runner({
      host,
      backpressure: host.backpressure,
      find: (rule, program) => executables.get(`${rule} ${program}`) ?? null,
      refuse: () => false,
      lost: (_event, rule) => onLost?.(rule),
      mostOpen,
    });
    this.#takeOver = new TakeOver(this.space, { client }, this.#recorded);
  }

  /** As the engine does: one take-over after the other, and the same process retries a failed one. */
  takeOver(dead: readonly number[]): Promise<void> {
    this.#resuming = this.#resuming.then(() => this.#takeOverUntilDone(dead));
    return this.#resuming;
  }

  async #takeOverUntilDone(dead: readonly number[]): Promise<void> {
    for (;;)
      try {
        if (!this.#isLoaded) {
          await fence(this.space.storage.db, dead, this.space.clock);
          await this.#loadDefinitions();
        }
        const events = await this.#takeOver.take(dead);
        if (this.isOpen) return;
        await retryUntilAvailable(() => this.#correlations.restore(this.space.storage.db));
        this.#correlations.start(events);
        this.#schedule.start();
        this.isOpen = true;
        await retryUntilAvailable(() => this.#deliveries.look());
        return;
      } catch (error) {
        if (!(error instanceof MongoServerError && error.code === INTERRUPTED)) throw error;
        await new Promise((resolve) => setTimeout(resolve, 2_000));
      }
  }

  /** Removes texts of rules that nothing needs. */
  async sweep(): Promise<void> {
    if (this.#isSweeping || !this.isOpen) return;
    this.#isSweeping = true;
    const uses = (key: string): boolean => this.runner.uses(key);
    await this.space.execution.programs.sweep(this.space.clock.now(), uses).catch(() => undefined); // the next sweep retries
    this.#isSweeping = false;
  }

  async #loadDefinitions(): Promise<void> {
    const rows = await retryUntilAvailable(() => this.space.storage.db.collection(DEFINITIONS).find({}).toArray());
    for (const row of rows) this.#definitions.putRow(fromBson(BSON.serialize(row)));
    const { space } = this;
    for (const [name, stored] of this.#definitions.list('types')) space.catalog.types.set(name, loadType(stored, space));
    for (const [, stored] of this.#definitions.list('rules')) loadRule(space, stored);
    this.#isLoaded = true;
  }

  /** Carries out a client's INSERT. */
  async insert(type: string, value: Value): Promise<void> {
    await insertOne(this.space, resourceOf(this.space, type), value, this.asClient());
  }

  /** Publishes a client's message on a topic. */
  async publish(topic: string, value: Value): Promise<void> {
    const client = this.asClient();
    await client.commit({ writes: [], events: raise(this.space, `/topics${topic}/publish`, value, client) });
  }

  /** Carries out a client's UPDATE of the present instance, which increments a number. */
  async count(type: string, where: ObjectValue, property: string): Promise<void> {
    const resource = resourceOf(this.space, type);
    const change = (stored: ObjectValue): ObjectValue => ({ ...stored, [property]: Number(stored[property]) + 1 });
    await updateOne(this.space, resource, () => find(this.space, resource, where), change, this.asClient());
  }

  /** Carries out a client's DELETE. */
  async erase(type: string, where: ObjectValue): Promise<void> {
    const client = this.asClient();
    if ((await deleteMany(this.space, resourceOf(this.space, type), where, client)) === null)
      await runDurably('deleteMany', { type, where }, client);
  }

  /** Carries out a client's INSERT with a request id, which it repeats until it gets the answer. */
  async request(type: string, object: Value, requestId: string): Promise<void> {
    const client = this.asClient();
    await carryOutIdempotently(
      this.space,
      { identity: client.identity, op: 'insert', resourceName: type, custom: null, object, parameters: {}, requestId },
      client,
    );
  }

  readonly asClient = (): Actor => ({ ...serviceActor(this.space), commit: (unit) => this.committer.submit(unit) });

  /** The state for the report of a world that does not end. */
  get state(): string {
    const { isOpen, runner, committer } = this;
    return `open ${isOpen}, runs ${runner.pending}, units ${committer.waiting}, windows ${this.#correlations.isBusy}`;
  }

  /** Whether a run has made a request in this life. */
  hasBegun(run: RunId): boolean {
    return this.#sandbox.asked.has(run);
  }

  get isQuiet(): boolean {
    return this.isOpen && this.runner.pending === 0 && this.committer.waiting === 0 && !this.#correlations.isBusy && !this.#schedule.isBusy;
  }

  #taken(units: readonly UnitOfWork[]): Map<UnitOfWork, DuplicateKey> {
    const taken = new Map<UnitOfWork, DuplicateKey>();
    for (const unit of units)
      for (const write of unit.writes)
        if (write.op === 'insert' && this.#store.isTaken(write.collection, write.document))
          taken.set(unit, new DuplicateKey(write.collection, 'unique_key'));
    return taken;
  }
}

/** Programs of rules that clients have defined, by their ids: a process with the text of one can run it. */
const DEFINED = new Map<string, Program>();

const compiledRules = new Map<string, ReturnType<typeof compiledRule>>();
function compiledRuleOf(text: string): ReturnType<typeof compiledRule> {
  const known = compiledRules.get(text) ?? compiledRule(text);
  compiledRules.set(text, known);
  return known;
}

/** All rows in a single batch, in the form of the reader of rows. */
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

/** Natural keys of the types that are upserted. */
const NATURAL_KEYS: Readonly<Record<string, readonly string[]>> = { Tally: ['key'], Mirror: ['key'], Copy: ['key'] };

export const typesOf = (shapes: Readonly<Record<string, Readonly<Record<string, string>>>>): TypesInForce => {
  const types = new TypesInForce();
  for (const [name, shape] of Object.entries(shapes)) {
    const properties = Object.fromEntries(
      Object.entries(shape).map(([property, type]) => [property, property === 'key' ? { type, unique: true } : { type }]),
    ) as unknown as ObjectValue;
    types.set(
      name,
      parseType(
        { name, properties, ...(name in NATURAL_KEYS && { naturalKey: NATURAL_KEYS[name] as string[] }) },
        { types, scalars: new Map() },
      ),
    );
  }
  return types;
};
