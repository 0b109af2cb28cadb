// One world from its beginning to its end: clients, rules with every shape of effect, one or two services that die, stall and come back at
// moments that a seed decides, and an unreliable network. In the end the store must be as after an undisturbed run.

import { Long, ObjectId } from 'mongodb';
import type { ObjectValue, Value } from '../../../stdlib/values/index.ts';
import { DEFINITIONS } from '../../../resources/catalog/definition-store.ts';
import { type CrashPoint, noCounts, pointsAt } from './crash-points.ts';
import { HOT, programOfStatements, randomProgram, rerun, TAKEN, textOf, TICKETS } from './random-program.ts';
import { changedRule, changingRule } from './changing.ts';
import { movingType } from './moving.ts';
import { orderedChanges } from './ordered.ts';
import type { Part } from './part.ts';
import { reliableTopic } from './reliable.ts';
import { repeatedRequests } from './repeated.ts';
import type { Program, Request } from './sandbox.ts';
import { scheduledEvents } from './scheduled.ts';
import { type Correlated, type Rule, type Scenery, SimulatedService, typesOf } from './service.ts';
import { type Planted, SimulatedStore } from './store/index.ts';
import { SimulatedTime } from './timers.ts';
import { type Life, World } from './world.ts';

const EVENTS = 3;
const PAIRS = 2;
const COUNTS = 1;
/** Number of instances that a client deletes with one request, more than a batch; and the part of worlds that do so. */
const OLD = 3;
const ERASES = 0.3;
const OWNER = 'owner';
/** A counter that contains its last writer. */
const LINE = { name: 'line' };
/** Number of clients that count there. */
const LINE_COUNTS = 2;
const MOST_STEPS = 50_000;
const WINDOW_MS = 5_000;
/** Rounds of 1.1 seconds in which nothing happens: longer than the journal holds windows. */
const QUIET_ROUNDS = 11;
/** Part of worlds in which the sandbox fails runs, and the chance of that at each request of a run. */
const HARMS = 0.3;
const HARM = 0.05;
/** Part of worlds in which the removal of rows is interrupted at times: a take-over fails half-way, and the same process retries it. */
const INTERRUPTS = 0.2;
const MOST_INTERRUPTIONS = 4;
/** Chance that much time passes while work is in progress, so that runs are open for long. */
const LINGERS = [0, 0.01, 0.01, 0.05];
/** Chances of a broken connection and of a server error, per command. */
const FAULTS = [0, 0, 0.01, 0.01, 0.04];
const TROUBLES = [0, 0, 0, 0.01];
/** Part of worlds in which the store is unavailable once, for longer than clients wait, and the chance of its beginning at each step. */
const AWAY = 0.15;
const AWAY_MS = 25_000;
const GOES_AWAY = 0.005;
/** Part of worlds in which the machine's clock is set at times, the chance of that at each step, and the resulting errors. */
const IS_SET = 0.3;
const SETS = 0.005;
const WRONG_BY_MS = [0, 2_000, -2_000, 3_600_000, -3_600_000, 3 * 86_400_000];
/** Chance at each step that unneeded texts of rules are removed. */
const SWEEPS = 0.01;
/** Part of worlds in which processes die above all during take-overs, and how much more likely that is. */
const CASCADES = 0.3;
const MORE_LIKELY = 6;
/** Part of worlds that have each optional part. */
const PART = 0.4;
/** Part of worlds in which a listener to committed events fails, and the chance of that. */
const FAILS = 0.3;
const FAILING = 0.3;
/** Bounds of the runs that are open at one time. */
const MOST_OPEN = [2_000, 2_000, 2, 1];
/** Part of worlds in which one of the rules is a random program. */
const WILD = 0.6;

const TYPES = typesOf({
  Event: { tag: 'String' },
  Next: { tag: 'String' },
  Effect: { tag: 'String', n: 'Integer' },
  Row: { owner: 'String', v: 'Integer' },
  Once: { key: 'String' },
  Old: { owner: 'String', v: 'Integer' },
  Counter: { name: 'String', n: 'Integer', by: 'String' },
  Trace: { tag: 'String', n: 'Integer' },
  Asked: { tag: 'String' },
  Noted: { tag: 'String' },
  Slot: { name: 'String', n: 'Integer' },
  Copy: { key: 'String', n: 'Integer' },
  Tally: { key: 'String', n: 'Integer' },
  Mirror: { key: 'String', n: 'Integer' },
});

const ask = (request: Request): Request => request;

const path = (root: string, property: string): ObjectValue => ({ k: 'path', root, p: [property] });
/** `n: c.n + 1`, as the compiler writes it. */
const ONE_MORE = { set: [['n', { k: 'binary', op: '+', a: path('row', 'n'), b: path('given', '0') }]], given: { 0: 1 } };

/** @param tag names an effect between the read and the change; absent: none */
function* computedCount(tag?: string): Generator<Request, void, Value> {
  const counter = (yield ask({ kind: 'select', type: 'Counter', where: HOT, forChange: true })) as ObjectValue;
  if (tag !== undefined) yield ask({ kind: 'insert', type: 'Effect', value: { tag: `${tag} between`, n: 1 } });
  const where = { _id: counter['_id'] as Value };
  yield ask({ kind: 'update', type: 'Counter', where, value: { n: Number(counter['n']) + 1 }, computed: ONE_MORE });
}

/** Every shape of statement, one after the other, with the effects that a repetition would double or lose. */
const statements: Readonly<Record<string, (tag: string, isLast: boolean) => Generator<Request, void, Value>>> = {
  *insert(tag, tail) {
    yield ask({ kind: 'insert', type: 'Effect', value: { tag: `${tag} insert`, n: 1 }, tail });
  },
  *count() {
    const counter = (yield ask({ kind: 'read', type: 'Counter', where: HOT })) as ObjectValue;
    yield ask({ kind: 'set', type: 'Counter', where: HOT, value: { n: Number(counter['n']) + 1 } });
  },
  *carry(tag) {
    // An instance is read before an effect and changed after it: the change must apply to the version that was read, also in a replay.
    const counter = (yield ask({ kind: 'read', type: 'Counter', where: HOT })) as ObjectValue;
    yield ask({ kind: 'insert', type: 'Effect', value: { tag: `${tag} carried`, n: 1 } });
    yield ask({ kind: 'set', type: 'Counter', where: HOT, value: { n: Number(counter['n']) + 1 } });
  },
  *twice(tag) {
    // The second change is based on the result of the first.
    const counter = (yield ask({ kind: 'read', type: 'Counter', where: HOT })) as ObjectValue;
    const changed = (yield ask({ kind: 'set', type: 'Counter', where: HOT, value: { n: Number(counter['n']) + 1 } })) as ObjectValue;
    yield ask({ kind: 'insert', type: 'Effect', value: { tag: `${tag} between`, n: 1 } });
    yield ask({ kind: 'set', type: 'Counter', where: HOT, value: { n: Number(changed['n']) + 1 } });
  },
  *between(tag) {
    // Both changes are based on the one read.
    const counter = (yield ask({ kind: 'select', type: 'Counter', where: HOT })) as ObjectValue;
    const where = { _id: counter['_id'] as Value };
    yield ask({ kind: 'update', type: 'Counter', where, value: { by: tag } });
    yield ask({ kind: 'update', type: 'Counter', where, value: { n: Number(counter['n']) + 1 } });
  },
  *each(tag) {
    // One effect for each row that existed, although clients delete rows and races are lost meanwhile.
    const rows = (yield ask({ kind: 'list', type: 'Old', where: { owner: OWNER } })) as ObjectValue[];
    for (const row of rows) {
      yield ask({ kind: 'insert', type: 'Effect', value: { tag: `${tag} each ${String(row['v'])}`, n: 1 } });
      const counter = (yield ask({ kind: 'read', type: 'Counter', where: HOT })) as ObjectValue;
      yield ask({ kind: 'set', type: 'Counter', where: HOT, value: { n: Number(counter['n']) + 1 } });
    }
    yield ask({ kind: 'insert', type: 'Effect', value: { tag: `${tag} walked`, n: rows.length } });
  },
  *counted() {
    // As a compiled program: the next run in the queue goes on from a pending change.
    const counter = (yield ask({ kind: 'select', type: 'Counter', where: HOT })) as ObjectValue;
    yield ask({ kind: 'update', type: 'Counter', where: { _id: counter['_id'] as Value }, value: { n: Number(counter['n']) + 1 } });
  },
  *computed() {
    // The service computes the value anew where others have changed the row since it was read.
    yield* computedCount();
  },
  *computedLate(tag) {
    yield* computedCount(tag);
  },
  *followed(tag) {
    // An effect contains the value that was read, which may be pending: if that is never stored, neither is the effect.
    const line = (yield ask({ kind: 'select', type: 'Counter', where: LINE })) as ObjectValue;
    yield ask({ kind: 'insert', type: 'Trace', value: { tag: `${tag} saw ${String(line['by'])}`, n: line['n'] as Value } });
    const value = { n: Number(line['n']) + 1, by: tag };
    yield ask({ kind: 'update', type: 'Counter', where: { _id: line['_id'] as Value }, value });
  },
  *upserted(tag) {
    // All rules of an event upsert one instance.
    yield ask({ kind: 'upsert', type: 'Mirror', value: { key: eventOf(tag), n: 1 } });
  },
  *tallied(tag) {
    // A run that did not find an instance must not change one that was inserted later, with or without an effect between, and may change
    // one that it has inserted itself.
    for (const key of ['all', 'late', 'all']) {
      const found = (yield ask({ kind: 'select', type: 'Tally', where: { key } })) as ObjectValue | null;
      if (key === 'late') yield ask({ kind: 'insert', type: 'Effect', value: { tag: `${tag} between`, n: 1 } });
      yield ask({ kind: 'upsert', type: 'Tally', value: { key, n: Number(found?.['n'] ?? 0) + 1 } });
    }
    const own = { key: `of ${tag}` };
    const found = yield ask({ kind: 'select', type: 'Tally', where: own });
    if (!found) yield ask({ kind: 'insert', type: 'Tally', value: { ...own, n: 0 } });
    yield ask({ kind: 'upsert', type: 'Tally', value: { ...own, n: 1 } });
  },
  *later(tag, tail) {
    yield ask({ kind: 'async', type: 'later', value: { tag }, tail });
  },
  *locked() {
    yield ask({ kind: 'lock', type: 'counting' });
    const counter = (yield ask({ kind: 'read', type: 'Counter', where: HOT })) as ObjectValue;
    yield ask({ kind: 'set', type: 'Counter', where: HOT, value: { n: Number(counter['n']) + 1 } });
    yield ask({ kind: 'unlock', type: 'counting' });
  },
  *bulk(tag) {
    yield ask({ kind: 'insertMany', type: 'Row', value: [1, 2, 3].map(() => ({ owner: tag, v: 0 })) });
    const changed = yield ask({ kind: 'updateMany', type: 'Row', where: { owner: tag, v: 0 }, value: { v: 1 } });
    yield ask({ kind: 'insert', type: 'Effect', value: { tag: `${tag} changed`, n: changed } });
  },
  *erase(tag) {
    yield ask({ kind: 'insertMany', type: 'Row', value: [1, 2, 3].map(() => ({ owner: `${tag} gone`, v: 0 })) });
    const gone = yield ask({ kind: 'deleteMany', type: 'Row', where: { owner: `${tag} gone` } });
    yield ask({ kind: 'insert', type: 'Effect', value: { tag: `${tag} erased`, n: gone } });
  },
  *refused(tag, tail) {
    // The third is refused: the two before it stay, the statement fails, and so does the rule.
    yield ask({ kind: 'insertMany', type: 'Once', value: [`${tag} a`, `${tag} b`, TAKEN, `${tag} c`].map((key) => ({ key })), tail });
  },
  *claim(tag) {
    // All rules of an event compete for one key, and one of them gets it.
    let won = 1;
    try {
      yield ask({ kind: 'insert', type: 'Once', value: { key: `${eventOf(tag)} claimed` } });
    } catch {
      won = 0;
    }
    yield ask({ kind: 'insert', type: 'Effect', value: { tag: `${tag} claim`, n: won } });
  },
  *publish(tag, tail) {
    yield ask({ kind: 'publish', type: '/told', value: { tag }, tail });
  },
  *chain(tag, tail) {
    yield ask({ kind: 'insert', type: 'Next', value: { tag }, tail });
  },
};
const NAMES = Object.keys(statements);
const eventOf = (tag: string): string => /^e\d+/.exec(tag)?.[0] ?? tag;

const programOf = (names: readonly string[], suffix = ''): Program =>
  function* (event) {
    for (const [index, name] of names.entries())
      yield* (statements[name] as (typeof statements)[string])(`${String(event['tag'])}${suffix}/${name}`, index === names.length - 1);
  };

const effect = (what: string): Program =>
  function* (event) {
    yield ask({ kind: 'insert', type: 'Effect', value: { tag: `${String(event['tag'])} ${what}`, n: 1 }, tail: true });
  };

/** A BEFORE rule that reads, has an effect of its own and changes the instance. */
const before: Program = function* (instance) {
  yield ask({ kind: 'read', type: 'Counter', where: HOT });
  yield ask({ kind: 'insert', type: 'Effect', value: { tag: `${String(instance['tag'])} before`, n: 1 } });
  return { ...instance, tag: `${String(instance['tag'])}!` };
};

/** A BEFORE rule of a deletion, with an effect. */
const mourned: Program = function* (instance) {
  yield ask({ kind: 'insert', type: 'Effect', value: { tag: `${String(instance['owner'])} mourned`, n: instance['v'] as Value } });
  return instance;
};

/** A rule for the single event of a deletion of many. */
const buried: Program = function* ({ qual, count }) {
  const tag = `${String((qual as ObjectValue)['owner'])} buried`;
  yield ask({ kind: 'insert', type: 'Effect', value: { tag, n: count as Value }, tail: true });
};

const CORRELATED: readonly Correlated[] = [
  {
    text: `RULE pair WHEN EVENT OCCURS ON "/topics/open" AS a BEFORE EVENT OCCURS ON "/topics/shut" AS b WITHIN 1 hour
      CONSTRAIN TO a.value.tag == b.value.tag`,
    program: (event) => effect('pair')(event['value'] as ObjectValue),
  },
  {
    text: `RULE window WHEN EVENT OCCURS ON "/topics/open" AS a BEFORE EVENT OCCURS ON "/topics/never" AS b WITHIN ${WINDOW_MS / 1_000} seconds`,
    program: effect('never'),
    timeout: (event) => effect('window')(event['value'] as ObjectValue),
  },
];

interface Plan {
  readonly first: readonly string[];
  readonly second: readonly string[];
  readonly next: readonly string[];
  /** The random program; null: the world has none. */
  readonly wild: ReturnType<typeof randomProgram> | null;
}

/** The outcome that a client knows: the request was acknowledged, or it got no answer. */
type Known = Map<string, 'promised' | 'perhaps'>;

interface Clients {
  readonly events: Known;
  readonly opened: Known;
  readonly shut: Known;
  readonly counts: Known;
  readonly lines: Known;
  readonly erased: Known;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export interface SimulationOptions {
  /** The data that the store is made to forget. */
  readonly planted?: Planted;
  /** Called with each step. */
  readonly onStep?: (what: string) => void;
}

/** Runs worlds one after the other; until it is disposed, it replaces the process's timers and clocks. */
export class Simulation implements Disposable {
  readonly #time = new SimulatedTime();
  readonly #traces = Error.stackTraceLimit;
  /** How often processes have died at each point, in all worlds. */
  readonly crashes = noCounts();

  constructor() {
    Error.stackTraceLimit = 0; // traces of the many expected errors would cost more than all else
  }

  /** @returns the violations in the store at the end; none when all is right */
  run(seed: number, options: SimulationOptions = {}): Promise<string[]> {
    this.#time.reset(seed);
    return new OneWorld(seed, this.#time, this.crashes, options).run();
  }

  [Symbol.dispose](): void {
    Error.stackTraceLimit = this.#traces;
    this.#time[Symbol.dispose]();
  }
}

interface Serving {
  readonly life: Life;
  readonly epoch: number;
  /** Work that it has to take over. */
  readonly left: Serving[];
  readonly service: SimulatedService;
}

class OneWorld {
  readonly #world: World;
  readonly #store: SimulatedStore;
  readonly #time: SimulatedTime;
  readonly #plan: Plan;
  readonly #scenery: Scenery;
  readonly #parts: readonly Part[];
  readonly #clients: Clients = {
    events: new Map(),
    opened: new Map(),
    shut: new Map(),
    counts: new Map(),
    lines: new Map(),
    erased: new Map(),
  };
  readonly #serving: Serving[] = [];
  readonly #isAlone: boolean;
  readonly #crashes: Record<CrashPoint, number>;
  /** The services that were asked to store an event, by event. */
  readonly #asked = new Map<string, SimulatedService>();
  #epoch = 0;
  /** Services whose rows nobody has taken over yet. */
  readonly #left: Serving[] = [];
  readonly #mistaken: string[] = [];

  constructor(seed: number, time: SimulatedTime, crashes: Record<CrashPoint, number>, { planted, onStep }: SimulationOptions) {
    this.#crashes = crashes;
    this.#world = new World(seed, onStep);
    this.#store = new SimulatedStore(this.#world, {
      't.Once': ['key'],
      't.Tally': ['key'],
      't.Copy': ['key'],
      't.Mirror': ['key'],
      [DEFINITIONS]: ['kind', 'name'],
    });
    this.#store.planted = planted ?? null;
    this.#time = time;
    this.#isAlone = this.#world.chance(0.6);
    const some = (): string[] => [
      ...new Set(Array.from({ length: 1 + Math.floor(this.#world.random() * 3) }, () => this.#world.pick(NAMES))),
    ];
    const wild = this.#world.chance(WILD) ? randomProgram(this.#world, true) : null;
    if (wild) onStep?.(`the random program is ${textOf(wild)}`);
    const calm = new Set(['chain', 'refused', 'publish', 'claim', 'later']);
    this.#plan = { first: some(), second: some(), next: some().filter((name) => !calm.has(name)), wild };
    const rule = (name: string, path: string, program: Program, timing: Rule['timing'] = 'when'): Rule => ({ name, path, program, timing });
    // Due times and pending requests are in the memory of one process: in production that of the owner.
    this.#parts = this.#isAlone
      ? [reliableTopic, scheduledEvents, repeatedRequests, orderedChanges, changingRule, movingType]
          .filter(() => this.#world.chance(PART))
          .map((make) => make())
      : [];
    this.#scenery = {
      rules: [
        rule('first', '/types/Event/insert', programOf(this.#plan.first)),
        rule('second', '/types/Event/insert', programOf(this.#plan.second, ':second')),
        ...(wild ? [rule('wild', '/types/Event/insert', programOfStatements(wild))] : []),
        rule('next', '/types/Next/insert', programOf(this.#plan.next)),
        rule('before', '/types/Next/insert', before, 'before'),
        rule('told', '/topics/told/publish', effect('told')),
        rule('mourned', '/types/Old/delete', mourned, 'before'),
        rule('buried', '/types/Old/delete', buried),
        ...this.#parts.flatMap(({ rules = [] }) => rules),
      ],
      procedures: { later: effect('later') },
      definable: changedRule,
      topics: Object.assign({}, ...this.#parts.map(({ topics }) => topics)) as Record<string, ObjectValue>,
      failing: this.#world.chance(FAILS) ? FAILING : 0,
      mostOpen: this.#world.pick(MOST_OPEN),
      correlated: this.#isAlone ? CORRELATED : [], // open evaluations are in the memory of one process
      types: TYPES,
      harm: this.#world.chance(HARMS) ? HARM : 0,
      onLost: (rule) => this.#mistaken.push(`the text of ${rule} is lost`),
      onFenced: (life) => {
        if (this.#serving.some((one) => one.life === life))
          this.#mistaken.push('a service that nobody has taken over from takes itself for taken over');
      },
    };
  }

  async run(): Promise<string[]> {
    const world = this.#world;
    const store = this.#store;
    await this.#furnish();
    let crashes = Math.floor(world.random() * 5);
    const crashChance = 0.01 + world.random() * 0.04;
    const lingers = world.pick(LINGERS);
    const isCascading = world.chance(CASCADES);
    let isToGoAway = world.chance(AWAY);
    const isSet = world.chance(IS_SET);
    store.faults = world.pick(FAULTS);
    store.troubles = world.pick(TROUBLES);
    store.interruptions = world.chance(INTERRUPTS) ? MOST_INTERRUPTIONS : 0;
    for (let left = this.#isAlone ? 1 : 2; left > 0; left--) this.#begin();
    const tasks = this.#tasks();
    /** From then on tasks run one after the other. */
    const calmFrom = Math.floor(world.random() * (tasks.length + 3));
    let quiet = 0;
    for (let steps = 0; ; steps++) {
      if (steps > MOST_STEPS)
        return ['it does not come to an end', ...this.#serving.map(({ service }) => service.state), ...this.#unfinished];
      await turn();
      if (tasks.length > calmFrom && world.chance(0.2)) this.#send(tasks);
      if (crashes > 0 && world.chance(isCascading && this.#isTakingOver ? MORE_LIKELY * crashChance : crashChance)) {
        crashes--;
        this.#end(world.pick(this.#serving), world.chance(0.7));
        continue;
      }
      if (isSet && world.chance(SETS)) {
        const ms = world.pick(WRONG_BY_MS);
        world.onStep?.(`the time of day is wrong by ${ms} ms`);
        this.#time.setWrongBy(ms);
      }
      if (world.chance(SWEEPS)) void world.pick(this.#serving).service.sweep();
      if (isToGoAway && world.chance(GOES_AWAY)) {
        isToGoAway = false;
        store.isAway = true;
        world.onStep?.('the store is away');
        setTimeout(() => (store.isAway = false), AWAY_MS);
      }
      if (crashes === 0 && tasks.length === 0) store.faults = store.troubles = store.interruptions = 0;
      if (world.chance(store.isAway ? 0.2 : lingers)) this.#time.pass(1_100);
      if (world.advance()) {
        quiet = 0;
        continue;
      }
      this.#time.pass(quiet === 0 ? 30 : 1_100);
      if (!this.#serving.every(({ service }) => service.isQuiet) || this.#unfinished.length > 0) continue;
      if (tasks.length > 0) {
        if (tasks.length <= calmFrom) this.#send(tasks);
        continue;
      }
      if (crashes > 0 && quiet > 1) {
        crashes--;
        this.#end(world.pick(this.#serving), world.chance(0.7));
        quiet = 0;
      } else if (++quiet > QUIET_ROUNDS) break;
    }
    return [
      ...this.#wrong(),
      ...this.#parts.flatMap((part) => part.wrong(store)),
      ...this.#mistaken,
      ...rowsLeft(store),
      ...store.late.map((name) => `${name} was changed by a process whose time was over`),
    ];
  }

  async #furnish(): Promise<void> {
    const { db } = this.#store.connect({ alive: true });
    const version = Long.fromNumber(1);
    const prepared = Promise.all([
      db.collection('t.Counter').insertOne({ _id: new ObjectId(), ars_version: version, name: 'hot', n: Long.fromNumber(0) }),
      db.collection('t.Counter').insertOne({ _id: new ObjectId(), ars_version: version, ...TICKETS, n: Long.fromNumber(0) }),
      db.collection('t.Counter').insertOne({ _id: new ObjectId(), ars_version: version, ...LINE, n: Long.fromNumber(0), by: 'nobody' }),
      db.collection('t.Once').insertOne({ _id: new ObjectId(), ars_version: version, key: TAKEN }),
      ...this.#parts.flatMap((part) => part.furnish?.(db) ?? []),
      ...Array.from({ length: OLD }, (_, v) =>
        db.collection('t.Old').insertOne({ _id: new ObjectId(), ars_version: version, owner: OWNER, v: Long.fromNumber(v) }),
      ),
    ]);
    while (this.#world.advance()) await turn();
    await prepared;
  }

  /** Starts a new life of a service. This one, or another living one, takes over the work of the dead. */
  #begin(): void {
    const epoch = ++this.#epoch;
    const life: Life = { alive: true, name: String(epoch) };
    const serving: Serving = { life, epoch, left: [], service: new SimulatedService(this.#world, this.#store, life, epoch, this.#scenery) };
    this.#serving.push(serving);
    const successor = this.#world.pick(this.#serving);
    if (successor !== serving) this.#takeOver(serving, []);
    this.#takeOver(successor, this.#left.splice(0));
  }

  #takeOver(successor: Serving, dead: readonly Serving[]): void {
    successor.left.push(...dead);
    successor.service.takeOver(dead.map((one) => one.epoch)).then(
      () => {
        // Stalled services continue, and are too late.
        for (const one of dead) {
          one.life.isFenced = true;
          this.#world.onStep?.(`${one.life.name} is taken over from`);
          one.life.isPaused = false;
          successor.left.splice(successor.left.indexOf(one), 1);
        }
      },
      () => {
        if (!successor.life.alive || successor.life.isFenced) return;
        // One that stands still has a successor already; any other gets one, which takes over.
        if (this.#serving.includes(successor)) this.#end(successor, true);
        else successor.life.alive = false;
      },
    );
  }

  /** The work that the parts still wait for. */
  get #unfinished(): string[] {
    return this.#parts.flatMap((part) => part.unfinished?.(this.#store) ?? []);
  }

  get #isTakingOver(): boolean {
    return this.#serving.some(({ left }) => left.length > 0);
  }

  #send(tasks: ((service: SimulatedService) => void)[]): void {
    const { service } = this.#world.pick(this.#serving);
    if (service.isOpen) tasks.shift()?.(service);
  }

  /** Ends a service: it dies, or stalls for so long that another one takes over. */
  #end(serving: Serving, dies: boolean): void {
    const { life, left } = serving;
    this.#world.onStep?.(`${life.name} ${dies ? 'dies' : 'stands still'}`);
    if (dies) this.#countCrash(serving);
    if (dies) life.alive = false;
    else life.isPaused = true;
    this.#serving.splice(this.#serving.indexOf(serving), 1);
    this.#left.push(...left.splice(0), serving);
    this.#begin();
  }

  #countCrash({ service }: Serving): void {
    const points = pointsAt(this.#store.rows('journal'), (run) => service.hasBegun(run));
    for (const [tag, known] of this.#clients.events) {
      if (known === 'promised' || this.#asked.get(tag) !== service) continue;
      const isStored = this.#store.rows('t.Event').some((row) => row['tag'] === tag);
      points.add(isStored ? 'after the store, before the answer' : 'before the store');
    }
    for (const point of points) this.#crashes[point]++;
  }

  #tasks(): ((service: SimulatedService) => void)[] {
    const { events, opened, shut, counts, lines, erased } = this.#clients;
    const reported = (known: Known, key: string, work: Promise<void>): Promise<void> => {
      known.set(key, 'perhaps');
      return work.then(() => void known.set(key, 'promised'));
    };
    const unheard = (work: Promise<void>): void => void work.catch(() => undefined);
    const tasks = [
      ...numbered(EVENTS, 'e').map((tag) => (service: SimulatedService) => {
        this.#asked.set(tag, service);
        unheard(reported(events, tag, service.insert('Event', { tag })));
      }),
      ...numbered(LINE_COUNTS, 'l').map(
        (key) => (service: SimulatedService) => unheard(reported(lines, key, service.count('Counter', LINE, 'n'))),
      ),
      ...numbered(COUNTS, 'c').map(
        (key) => (service: SimulatedService) => unheard(reported(counts, key, service.count('Counter', HOT, 'n'))),
      ),
    ];
    if (this.#world.chance(ERASES)) tasks.push((service) => unheard(reported(erased, OWNER, service.erase('Old', { owner: OWNER }))));
    if (this.#isAlone)
      for (const tag of numbered(PAIRS, 'p'))
        tasks.push((service) =>
          unheard(
            reported(opened, tag, service.publish('/open', { tag })).then(() => reported(shut, tag, service.publish('/shut', { tag }))),
          ),
        );
    const serving = (): SimulatedService | null => {
      const { service } = this.#world.pick(this.#serving);
      return service.isOpen ? service : null;
    };
    for (const part of this.#parts) tasks.push(...(part.tasks?.(serving) ?? []));
    for (let i = tasks.length - 1; i > 0; i--) {
      const j = Math.floor(this.#world.random() * (i + 1));
      [tasks[i], tasks[j]] = [tasks[j] as (typeof tasks)[number], tasks[i] as (typeof tasks)[number]];
    }
    return tasks;
  }

  /** Violations in the store, by the plan and the acknowledgements. */
  #wrong(): string[] {
    const store = this.#store;
    const wanted = new Map<string, number>();
    /** The number of further effects that may exist: those of requests without an answer. */
    const perhaps = new Map<string, number>();
    const add = (to: Map<string, number>, what: string, times = 1): void => void to.set(what, (to.get(what) ?? 0) + times);
    const claims = new Set<string>();
    const expectRule = (tag: string, names: readonly string[]): void => {
      for (const name of names) {
        const mine = `${tag}/${name}`;
        if (name === 'insert') add(wanted, `Effect ${mine} insert 1`);
        if (['count', 'locked', 'counted', 'between', 'computed', 'computedLate'].includes(name)) add(wanted, 'count');
        if (name === 'computedLate') add(wanted, `Effect ${mine} between 1`);
        if (name === 'followed') add(wanted, LINE.name);
        if (name === 'upserted') add(wanted, `Mirror ${eventOf(tag)}`);
        if (name === 'tallied') {
          add(wanted, 'tally', 4);
          add(wanted, `Effect ${mine} between 1`);
        }
        if (name === 'later') add(wanted, `Effect ${mine} later 1`);
        if (name === 'carry') {
          add(wanted, 'count');
          add(wanted, `Effect ${mine} carried 1`);
        }
        if (name === 'each') {
          // Only the run itself knows how many rows it found: then there is an effect, and a count, for each of them.
          const walked = store.rows('t.Effect').find((row) => row['tag'] === `${mine} walked`);
          const met = store.rows('t.Effect').filter((row) => String(row['tag']).startsWith(`${mine} each `));
          add(wanted, `Effect ${mine} walked ${String(walked?.['n'] ?? 'of all')}`);
          add(wanted, 'count', met.length);
          for (const tag of new Set(met.map((row) => String(row['tag'])))) add(wanted, `Effect ${tag} 1`);
          if (walked && Number(walked['n']) !== met.length) add(wanted, `each of ${mine}`, Number(walked['n']));
        }
        if (name === 'twice') {
          add(wanted, 'count', 2);
          add(wanted, `Effect ${mine} between 1`);
        }
        if (name === 'bulk') {
          add(wanted, `Effect ${mine} changed 3`);
          add(wanted, `Row ${mine} 1 v2`, 3);
        }
        if (name === 'erase') add(wanted, `Effect ${mine} erased 3`);
        if (name === 'publish') add(wanted, `Effect ${mine} told 1`);
        if (name === 'claim') {
          add(perhaps, `Effect ${mine} claim 1`);
          add(perhaps, `Effect ${mine} claim 0`);
          claims.add(eventOf(tag));
        }
        if (name === 'chain') {
          add(wanted, `Effect ${mine} before 1`);
          add(wanted, `Next ${mine}!`);
          expectRule(`${mine}!`, this.#plan.next);
        }
        if (name === 'refused') {
          add(wanted, `Once ${mine} a`);
          add(wanted, `Once ${mine} b`);
          return; // the rule has failed
        }
      }
    };
    const model = {
      add: (row: string, times = 1) => add(wanted, row, times),
      chained: (tag: string) => {
        add(wanted, `Effect ${tag} before 1`);
        add(wanted, `Next ${tag}!`);
        expectRule(`${tag}!`, this.#plan.next);
      },
      drawn: 0,
    };
    for (const event of store.rows('t.Event')) {
      if (this.#plan.wild) rerun(this.#plan.wild, String(event['tag']), model);
      expectRule(String(event['tag']), this.#plan.first);
      expectRule(`${String(event['tag'])}:second`, this.#plan.second);
    }
    for (const tag of claims) add(wanted, `Once ${tag} claimed`);
    const { events, opened, shut, counts, lines, erased } = this.#clients;
    for (const [tag, known] of events) add(known === 'promised' ? wanted : perhaps, `Event ${tag}`);
    for (const [, known] of counts) add(known === 'promised' ? wanted : perhaps, 'count');
    for (const [, known] of lines) add(known === 'promised' ? wanted : perhaps, LINE.name);
    for (const [tag, known] of opened) add(known === 'promised' ? wanted : perhaps, `Effect ${tag} window 1`);
    for (const [tag, known] of shut) add(known === 'promised' ? wanted : perhaps, `Effect ${tag} pair 1`);
    // The deletion has removed all or none, whether or not the client got an answer.
    const isGone = erased.get(OWNER) === 'promised' || store.rows('t.Old').length < OLD;
    add(wanted, isGone ? `Effect ${OWNER} buried ${OLD}` : `Old ${OWNER}`, isGone ? 1 : OLD);
    for (let v = 0; v < OLD && isGone; v++) add(wanted, `Effect ${OWNER} mourned ${v}`);
    for (let n = 0; n < model.drawn; n++) add(wanted, `Effect ticket ${n}`);
    if (model.drawn > 0) add(wanted, 'drawn', model.drawn);
    const found = new Map<string, number>();
    const claimed = new Map<string, number[]>();
    for (const row of store.rows('t.Event')) add(found, `Event ${String(row['tag'])}`);
    for (const row of store.rows('t.Effect')) {
      add(found, `Effect ${String(row['tag'])} ${String(row['n'])}`);
      const [, tag] = /^(.*) claim$/.exec(String(row['tag'])) ?? [];
      if (tag !== undefined) claimed.set(eventOf(tag), [...(claimed.get(eventOf(tag)) ?? []), Number(row['n'])]);
    }
    for (const row of store.rows('t.Next')) add(found, `Next ${String(row['tag'])}`);
    for (const row of store.rows('t.Old')) add(found, `Old ${String(row['owner'])}`);
    for (const row of store.rows('t.Row')) add(found, `Row ${String(row['owner'])} ${String(row['v'])} v${String(row['ars_version'])}`);
    for (const row of store.rows('t.Once')) if (row['key'] !== TAKEN) add(found, `Once ${String(row['key'])}`);
    for (const row of store.rows('t.Mirror')) add(found, `Mirror ${String(row['key'])}`, Number(row['ars_version']));
    for (const row of store.rows('t.Tally')) add(found, 'tally', Number(row['n']));
    for (const row of store.rows('t.Counter'))
      if (Number(row['n']) > 0)
        add(found, row['name'] === TICKETS.name ? 'drawn' : row['name'] === LINE.name ? LINE.name : 'count', Number(row['n']));
    const wrong = [...new Set([...wanted.keys(), ...found.keys()])].flatMap((what) => {
      const [right, more, is] = [wanted.get(what) ?? 0, perhaps.get(what) ?? 0, found.get(what) ?? 0];
      return is >= right && is <= right + more ? [] : [`${what}: ${is} instead of ${right}${more > 0 ? ` to ${right + more}` : ''}`];
    });
    // Of the rules that competed for one key one has got it, and each has reported its result once.
    for (const tag of claims) {
      const got = claimed.get(tag) ?? [];
      const asked = [this.#plan.first, this.#plan.second].filter((names) => reachesClaim(names)).length;
      if (got.length !== asked || got.reduce((sum, n) => sum + n, 0) > 1) wrong.push(`claims of ${tag}: ${got.join(' ')} of ${asked}`);
    }
    // Every value that was read has existed.
    const past = new Set(store.past.get('t.Counter')?.map(({ n, by }) => `saw ${String(by)} ${String(n)}`));
    for (const { tag, n } of store.rows('t.Trace')) {
      const [saw] = / saw .*$/.exec(`${String(tag)} ${String(n)}`) ?? [];
      if (saw !== undefined && !past.has(saw.trim())) wrong.push(`${String(tag)} ${String(n)}: that was never stored`);
    }
    return wrong;
  }
}

/** Whether a rule reaches its claim: a refused statement ends it. */
const reachesClaim = (names: readonly string[]): boolean =>
  names.includes('claim') && (!names.includes('refused') || names.indexOf('refused') > names.indexOf('claim'));

const numbered = (count: number, letter: string): string[] => Array.from({ length: count }, (_, index) => `${letter}${index}`);

/** Violations of the journal: only the last row of each slot stays, and those that fence the dead. */
function rowsLeft(store: SimulatedStore): string[] {
  const open = store.rows('journal').filter((row) => row['closed'] !== true);
  return open.length <= 4 ? [] : [`${open.length} rows are left in the journal`];
}
