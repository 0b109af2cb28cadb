// One life of a namespace in a simulated world: the real committer, journal, recovery, runs and statements over the simulated store, with
// programs that are generators of this process instead of isolates.

import { pino } from 'pino';
import { fault } from '../../faults.ts';
import type { Actor } from '../../actor.ts';
import type { Identity } from '../../api.ts';
import { VirtualClock } from '../../clock/index.ts';
import { type Answer, Committer, DuplicateKey, type RunId, type Step, type Unit } from '../../commit/index.ts';
import { instancesOf } from '../../resources/catalogue.ts';
import { deleteMany } from '../../resources/instances/delete.ts';
import { insertMany, insertOne } from '../../resources/instances/insert.ts';
import { updateMany, updateOne } from '../../resources/instances/update.ts';
import { recordingWrite } from '../../resources/recordings.ts';
import { serviceActor } from '../../resources/service-actor.ts';
import type { Namespace } from '../../resources/types.ts';
import { Contention, type Executable, Pressure, type RunHost, Runner } from '../../runs/index.ts';
import type { RunRequest, Sandbox } from '../../sandbox/index.ts';
import { takeOver } from '../../take-over.ts';
import { TriggerIndex } from '../../triggers/index.ts';
import { parseType, type TypeDefinition } from '../../types/index.ts';
import { instanceFromBson } from '../../values/index.ts';
import { BSON, type Document } from 'mongodb';
import { decodeInner, encodeInner, type ObjectValue, type Value } from '../../../stdlib/values/index.ts';
import type { SimulatedStore } from './store.ts';
import type { Life, World } from './world.ts';

/** What a program asks for; the last request of a rule is its tail. Gives null when the rule throws there. */
export interface Request {
  readonly kind: 'insert' | 'insertMany' | 'read' | 'set' | 'updateMany' | 'deleteMany';
  readonly type: string;
  readonly value?: Value;
  readonly where?: Value;
}
export type Program = (event: ObjectValue) => Generator<Request, void, Value>;

export interface Rule {
  readonly name: string;
  readonly path: string;
  readonly program: Program;
}

const IDENTITY: Identity = { username: 'ann', namespace: 'sim', profiles: [] };
const LOG = pino({ level: 'silent' });

export class SimulatedService {
  readonly space: Namespace;
  readonly runner: Runner;
  readonly committer: Committer;
  readonly #store: SimulatedStore;
  readonly #recorded = new Map<RunId, readonly Step[]>();
  isOpen = false;

  constructor(
    world: World,
    store: SimulatedStore,
    life: Life,
    epoch: number,
    rules: readonly Rule[],
    types: ReadonlyMap<string, TypeDefinition>,
  ) {
    this.#store = store;
    const { client, db } = store.connect(life);
    const clock = new VirtualClock(1_900_000_000_000);
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
      onEvents: (events) => this.runner.begin(events),
      uniqueKeys: (unit) =>
        unit.writes.flatMap((write) =>
          'document' in write && write.document['key'] !== undefined ? [`key=${String(write.document['key'])}`] : [],
        ),
      findTaken: async (units) => this.#taken(units),
      onError: () => undefined,
      isFull: () => null,
    });
    const executables = new Map<string, Executable>();
    const when = new TriggerIndex(surroundings);
    const host: RunHost = {
      namespace: 'sim',
      clock,
      sandbox: new SimulatedSandbox(world, life, rules) as unknown as Sandbox,
      committer: this.committer,
      contention: new Contention(),
      pressure: new Pressure(),
      log: LOG,
      perform: (kind, payloadJson, actor) => this.#perform(kind, decodeInner(payloadJson) as ObjectValue, actor),
      release: () => undefined,
      takeRecorded: (run) => {
        const steps = this.#recorded.get(run) ?? [];
        this.#recorded.delete(run);
        return steps;
      },
      failure: () => ({ writes: [], events: [] }),
      poisoned: () => ({ writes: [], events: [] }),
      record: (recording) => recordingWrite(this.space, recording),
      isTraced: () => false,
      logLevel: () => 20,
      mapOf: () => null,
    };
    for (const { name, path } of rules) {
      const executable: Executable = {
        resource: `/rules/${name}`,
        name,
        program: { id: name, module: { hash: name, source: '' }, constantsJson: '[]' },
        map: '',
        service: null,
        identity: IDENTITY,
      };
      executables.set(`${name} ${name}`, executable);
      when.add({
        name,
        baseName: name,
        version: null,
        triggers: [{ paths: [path], variable: 'e', binds: 'value', condition: null }],
        where: null,
        payload: { executable, binds: 'value' },
      });
    }
    const nobody = { has: () => false, match: () => [] };
    this.space = {
      name: 'sim',
      db,
      rows: {
        find: (collection: string, { filter, sort, limit }: Document) =>
          inOneBatch(() => db.collection(collection).find(filter, { raw: true, sort, limit }).toArray()),
      },
      clock,
      committer: this.committer,
      contention: host.contention,
      runs: host,
      log: LOG,
      types,
      executables,
      when,
      before: new TriggerIndex(surroundings),
      correlations: nobody,
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
    this.#client = client;
  }

  readonly #client: Parameters<typeof takeOver>[1]['client'];

  async open(dead: readonly number[]): Promise<void> {
    await takeOver(this.space, { client: this.#client } as Parameters<typeof takeOver>[1], dead, this.#recorded);
    this.committer.startCleaning();
    this.isOpen = true;
  }

  /** A client's INSERT. */
  async insert(type: string, value: Value): Promise<void> {
    const actor: Actor = { ...serviceActor(this.space), commit: (unit) => this.committer.submit(unit) };
    await insertOne(this.space, this.#resource(type), value, actor);
  }

  get isQuiet(): boolean {
    return this.isOpen && this.runner.pending === 0 && this.committer.waiting === 0;
  }

  #resource(name: string) {
    const type = this.space.types.get(name);
    if (!type) throw new Error(`no type ${name}`);
    return instancesOf(type);
  }

  async #perform(kind: string, payload: ObjectValue, actor: Actor): Promise<Answer> {
    const resource = this.#resource(String(payload['type']));
    const value = payload['value'] ?? null;
    const where = payload['where'] ?? {};
    if (kind === 'insert') return { ok: encodeInner(await insertOne(this.space, resource, value, actor)) };
    if (kind === 'insertMany') return { ok: encodeInner(await insertMany(this.space, resource, value as Value[], actor)) };
    if (kind === 'deleteMany') return { ok: String(await deleteMany(this.space, resource, where, actor)) };
    const change = (stored: ObjectValue): ObjectValue => ({ ...stored, ...(value as ObjectValue) });
    if (kind === 'updateMany') {
      const { count } = await updateMany(this.space, resource, where, change, actor, false);
      return { ok: String(count) };
    }
    const find = async (): Promise<ObjectValue> => {
      const row = await this.space.db.collection(resource.collection).findOne({ name: (where as ObjectValue)['name'] });
      if (!row) throw fault('cascade.resource.not.found', 'counter');
      return instanceFromBson(resource.type, BSON.serialize(row));
    };
    if (kind === 'set') return { ok: encodeInner(await updateOne(this.space, resource, find, change, actor)) };
    for (;;) {
      const row = await find();
      const id = String(row['_id']);
      if ((await actor.reading?.turn(resource.collection, [id])) === 'read again') continue;
      actor.reading?.saw(resource.collection, id, BigInt(row['ars_version'] as number));
      return { ok: encodeInner(row) };
    }
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

/** Steps each run when its turn has come. */
class SimulatedSandbox {
  readonly #world: World;
  readonly #life: Life;
  readonly #programs: ReadonlyMap<string, Program>;
  readonly #runs = new Map<string, { request: RunRequest; steps: Generator<Request, void, Value>; site: number; next: Request | null }>();

  constructor(world: World, life: Life, rules: readonly Rule[]) {
    this.#world = world;
    this.#life = life;
    this.#programs = new Map(rules.map(({ name, program }) => [name, program]));
  }

  start(request: RunRequest): void {
    const program = this.#programs.get(request.program?.id ?? '');
    const event = decodeInner(request.event?.json ?? '{}') as ObjectValue;
    if (!program) throw new Error('no such program');
    const steps = program(event['value'] as ObjectValue);
    const run = { request, steps, site: 0, next: null as Request | null };
    this.#runs.set(request.id, run);
    this.#world.later(this.#life, `start ${request.program?.id}`, () => {
      const first = steps.next();
      run.next = first.done ? null : first.value;
      this.#ask(request.id);
    });
  }

  answer(id: string, reply: Answer): void {
    const run = this.#runs.get(id);
    if (!run) return;
    this.#world.later(this.#life, `answer ${run.request.program?.id}`, () => {
      if (!this.#runs.has(id)) return;
      if ('error' in reply) return this.#fail(id, reply.error);
      // One step ahead, so that the last request is known for a tail.
      const value = decodeInner('ok' in reply ? reply.ok : reply.list);
      const { done, value: next } = run.steps.next(value);
      run.next = done ? null : next;
      this.#ask(id);
    });
  }

  drop(id: string): void {
    this.#runs.delete(id);
  }

  #fail(id: string, error: { code: string; message: string; params: unknown[]; status: number }): void {
    const run = this.#runs.get(id);
    this.#runs.delete(id);
    run?.request.observer.fail({ ...error, frames: [] });
  }

  #ask(id: string): void {
    const run = this.#runs.get(id);
    if (!run) return;
    const { request, next } = run;
    if (!next) {
      this.#runs.delete(id);
      request.observer.done('null', 0);
      return;
    }
    const { kind, ...payload } = next;
    const tail = 'tail' in next;
    request.observer.op(String(run.site++), 0, kind, encodeInner(payload), tail);
  }
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

export const typesOf = (shapes: Readonly<Record<string, Readonly<Record<string, string>>>>): Map<string, TypeDefinition> => {
  const types = new Map<string, TypeDefinition>();
  for (const [name, shape] of Object.entries(shapes)) {
    const properties = Object.fromEntries(
      Object.entries(shape).map(([property, type]) => [property, property === 'key' ? { type, unique: true } : { type }]),
    ) as unknown as ObjectValue;
    types.set(name, parseType({ name, properties }, { types, scalars: new Map() }));
  }
  return types;
};
