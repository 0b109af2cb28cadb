// Statements on nodes in a simulated world (language.md 7, integrations.md 11): the calling process dies at any moment and is restarted,
// its runs are replayed from their history, network and nodes fail. In the end each reliable write has had its effect once, in order, or is
// a dead letter, every run has ended, and nothing is left behind.
import { ChildRunIds } from '../../../runtime/context/actor.ts';
import type { Actor } from '../../../runtime/context/actor.ts';
import type { Answer, UnitOfWork } from '../../../runtime/transactions/index.ts';
import { closeStatement, FEDERATION, Federation, nextOfStatement, openStatement } from '../../../features/federation/index.ts';
import { DEAD_LETTERS } from '../../../features/delivery/delivery-types.ts';
import type { Namespace } from '../../../resources/catalog/types.ts';
import type { ProgramOperation } from '../../../resources/catalog/feature.ts';
import { Egress } from '../../../platform/egress/index.ts';
import { FeatureStates } from '../../../resources/states.ts';
import { decodeInner, type ObjectValue, type Value } from '../../../stdlib/values/index.ts';
import { SimulatedTime, World } from '../simulation/index.ts';
import { type Faults, POISON, ROWS, SimulatedClient, SimulatedNode } from './nodes.ts';
import { FleetStore } from './store.ts';

/** A planted defect, which the checks must notice. */
export type PlantedFault = 'nodes forget' | 'requests have new ids';

export interface FleetOptions {
  readonly planted?: PlantedFault;
  readonly onStep?: (what: string) => void;
}

const NODES: readonly (readonly [name: string, deliveryMode: string])[] = [
  ['a', 'reliable'],
  ['b', 'reliable'],
  ['c', 'bestEffort'],
];
const RUNS = 6;
const TURNS = 1_500;
const NOTHING = { has: () => false, hasSubscribers: () => false, match: () => [], of: () => [] };

interface Run {
  readonly id: string;
  readonly k: number;
  readonly kind: 'insert' | 'select';
  readonly withinMs: number;
  /** Number of items after which UNTIL holds. */
  readonly until: number;
  items: [node: string, kind: string, value: Value][];
  isDone: boolean;
}

interface Process {
  readonly life: { name: string; alive: boolean };
  readonly space: Namespace;
  readonly federation: Federation;
}

export class FleetSimulation implements Disposable {
  readonly #time = new SimulatedTime();

  /** @returns the violations; none when all is right */
  async run(seed: number, { planted, onStep }: FleetOptions = {}): Promise<string[]> {
    this.#time.reset(seed);
    return new OneFleet(new World(seed, onStep ?? null), this.#time, planted).play();
  }

  [Symbol.dispose](): void {
    this.#time[Symbol.dispose]();
  }
}

class OneFleet {
  readonly #world: World;
  readonly #time: SimulatedTime;
  readonly #store: FleetStore;
  readonly #nodes = new Map(NODES.map(([name]) => [name, new SimulatedNode(name)]));
  readonly #faults: Faults;
  readonly #planted: PlantedFault | undefined;
  readonly #runs: Run[];
  /** The present process. */
  #process: Process;
  #lives = 0;

  constructor(world: World, time: SimulatedTime, planted: PlantedFault | undefined) {
    this.#world = world;
    this.#time = time;
    this.#planted = planted;
    this.#store = new FleetStore(world);
    this.#faults = { lost: 0.05, cut: 0.1, busy: 0.05, forgets: planted === 'nodes forget' };
    this.#runs = Array.from({ length: RUNS }, (_, n) => ({
      id: `r${n}`,
      k: world.chance(0.15) ? POISON : 100 + n,
      kind: world.chance(0.7) ? 'insert' : 'select',
      withinMs: world.pick([500, 5_000, 60_000]),
      until: world.chance(0.8) ? Number.POSITIVE_INFINITY : Math.floor(world.random() * ROWS),
      items: [],
      isDone: false,
    }));
    this.#process = this.#start();
  }

  async play(): Promise<string[]> {
    for (let turn = 0; turn < TURNS; turn++) {
      await this.#step();
      if (this.#world.chance(0.01)) this.#disturb();
    }
    // All failures end: the remaining work must finish.
    Object.assign(this.#faults, { lost: 0, cut: 0, busy: 0 });
    for (const node of this.#nodes.values()) node.isDown = false;
    for (let quiet = 0; quiet < 200 && !this.#isOver; quiet++) {
      for (let turn = 0; turn < 200; turn++) await this.#step();
      this.#time.pass(10_000);
    }
    return this.#judged();
  }

  get #isOver(): boolean {
    return this.#runs.every(({ isDone }) => isDone) && this.#store.rows('outbox').length === 0;
  }

  /** Lets one thing happen, or time pass. */
  async #step(): Promise<void> {
    if (!this.#world.advance() || this.#world.chance(0.05)) this.#time.pass(this.#world.chance(0.1) ? 3_000 : 50);
    for (let i = 0; i < 2; i++) await new Promise((resolve) => setImmediate(resolve));
  }

  #disturb(): void {
    if (this.#world.chance(0.5)) {
      const node = this.#world.pick([...this.#nodes.values()]);
      node.isDown = !node.isDown;
      this.#world.onStep?.(`${node.name} is ${node.isDown ? 'down' : 'up'}`);
      return;
    }
    this.#world.onStep?.('the process dies');
    this.#process.life.alive = false;
    this.#process = this.#start();
  }

  #start(): Process {
    const life = { name: `process ${++this.#lives}`, alive: true };
    const nodes = NODES.map(([name, deliveryMode]): [string, ObjectValue] => [name, { name, deliveryMode, deliveryTTL: 86_400 }]);
    const states = new FeatureStates();
    const space = {
      name: 'main',
      clock: { now: () => Date.now() },
      log: { warn: () => undefined },
      catalog: {
        features: { named: () => undefined, installationResource: () => undefined },
        types: { get: () => undefined },
        definitions: { list: () => nodes, get: (_: string, name: string) => nodes.find(([one]) => one === name)?.[1] },
      },
      transactions: { submit: (unit: UnitOfWork) => this.#store.submit(life, unit) },
      installation: { about: { nodeUuid: 'here' } },
      storage: { cipher: null, db: { collection: (name: string) => this.#store.collection(life, name) } },
      events: { implementedEvents: NOTHING, subscribers: NOTHING, deliveries: NOTHING, correlations: NOTHING, when: NOTHING },
      states,
    } as unknown as Namespace;
    const clientOf = (name: string): SimulatedClient =>
      new SimulatedClient(this.#world, life, this.#nodes.get(name) as SimulatedNode, this.#faults);
    const federation = states.set(FEDERATION, new Federation(() => space, new Egress().nodesOutletOf('main'), clientOf));
    federation.open();
    const process = { life, space, federation };
    for (const run of this.#runs) if (!run.isDone) void this.#carryOut(process, run);
    return process;
  }

  /** Carries a run out from its history, as a replay after a crash does. */
  async #carryOut(process: Process, run: Run): Promise<void> {
    const { space, life, federation } = process;
    await this.#world.turn(life, `begins ${run.id}`);
    const recorded = [...(this.#store.steps.get(run.id) ?? [])];
    const items: Run['items'] = [];
    let site = 0;
    const asked = async (operation: ProgramOperation, payload: ObjectValue): Promise<ObjectValue> => {
      const here = site++;
      const answer = recorded.shift() ?? (await operation(space, payload, this.#actor(process, run, here)));
      return decodeInner('ok' in answer ? answer.ok : 'null') as ObjectValue;
    };
    const payload = payloadOf(run);
    let page = await asked(openStatement, payload);
    for (;;) {
      for (const item of page['items'] as Value[] as Run['items']) if (item[1] !== 'end' && items.length < run.until) items.push(item);
      const { cursor = null } = page;
      if (cursor === null) break;
      if (items.length >= run.until) {
        await closeStatement(space, { cursor }, this.#actor(process, run, site));
        break;
      }
      page = await asked(nextOfStatement, { ...payload, cursor });
    }
    await this.#store.submit(life, { writes: [], events: [] });
    federation.release(run.id);
    run.items = items;
    run.isDone = true;
  }

  #actor({ life }: Process, run: Run, site: number): Actor {
    const key = this.#planted === 'requests have new ids' ? `${run.id}/${site}/${life.name}` : `${run.id}/${site}`;
    return {
      identity: { username: 'ann', namespace: 'main', profiles: [] },
      clock: { now: () => Date.now() },
      chain: { root: null, depth: 0 },
      childRunIds: new ChildRunIds(key),
      state: { run: run.id, keep: () => undefined },
      commit: (unit: UnitOfWork, answer?: Answer) => this.#store.submit(life, unit, answer && { run: run.id, answer }),
      readSet: null,
      depth: 0,
    } as unknown as Actor;
  }

  #judged(): string[] {
    const wrong: string[] = [];
    for (const { id, isDone } of this.#runs) if (!isDone) wrong.push(`${id} has not ended`);
    if (this.#store.rows('outbox').length > 0) wrong.push('the outbox is not empty');
    if (this.#process.federation.underWay > 0) wrong.push('a statement is left behind');
    const dead = this.#store.rows(DEAD_LETTERS.collection).length;
    const poisoned = this.#runs.filter(({ kind, k }) => kind === 'insert' && k === POISON).length;
    if (dead > 2 * poisoned) wrong.push(`${dead} dead letters of ${poisoned} poisoned runs`);
    for (const [name, mode] of NODES) if (mode === 'reliable') wrong.push(...this.#wrongOrder(name));
    for (const run of this.#runs) wrong.push(...(run.kind === 'insert' ? this.#wrongInsert(run) : this.#wrongSelect(run)));
    return wrong;
  }

  /** Violations of the order of writes to a reliable node: that in which they entered the outbox. */
  #wrongOrder(name: string): string[] {
    const ids = (this.#nodes.get(name) as SimulatedNode).effects.map(({ requestId }) => requestId.replaceAll('-', '').slice(0, 24));
    const places = ids.map((id) => this.#store.places.get(id) ?? 'none');
    return places.every((place, at) => at === 0 || (places[at - 1] as string) < place) ? [] : [`effects on ${name} are out of order`];
  }

  #wrongInsert(run: Run): string[] {
    const wrong: string[] = [];
    for (const [name, mode] of NODES) {
      const count = (this.#nodes.get(name) as SimulatedNode).effects.filter(({ k }) => k === run.k).length;
      const isSure = mode === 'reliable' && run.k !== POISON && run.until === Number.POSITIVE_INFINITY;
      if (count > 1) wrong.push(`${run.id}: ${count} effects on ${name}`);
      if (count < 1 && isSure) wrong.push(`${run.id}: no effect on ${name}`);
      const received = run.items.filter(([node]) => node === name).length;
      if (run.until === Number.POSITIVE_INFINITY && received !== 1) wrong.push(`${run.id}: ${received} items of ${name}`);
      const isStored = run.items.some(([node, kind]) => node === name && kind === 'value');
      if (isStored && count !== 1) wrong.push(`${run.id}: told as stored on ${name}, which has it ${count} times`);
    }
    return wrong;
  }

  /** Violations of a select: it gives all rows of a node in order, each once, or those before its error. */
  #wrongSelect(run: Run): string[] {
    return NODES.flatMap(([name]) => {
      const items = run.items.filter(([node]) => node === name);
      const rows = items.filter(([, kind]) => kind === 'value').map(([, , value]) => Number((value as { k: number }).k));
      if (rows.some((k, at) => k !== at)) return [`${run.id}: rows of ${name} are missing, doubled or out of order`];
      const failed = items.length - rows.length;
      if (failed > 1) return [`${run.id}: ${failed} errors of ${name}`];
      if (failed === 0 && rows.length !== ROWS && run.until === Number.POSITIVE_INFINITY)
        return [`${run.id}: ${rows.length} rows of ${name}`];
      return [];
    });
  }
}

function payloadOf({ kind, k, withinMs, until }: Run): ObjectValue {
  const statement: ObjectValue =
    kind === 'insert'
      ? { resource: 'Mark', values: { k } }
      : { resource: 'Row', where: {}, props: null, orderBy: [], cardinality: 'array', options: {} };
  return {
    where: {},
    cardinality: 'any',
    within: withinMs,
    limited: true,
    gathers: false,
    streams: true,
    handled: until >= 0,
    kind,
    statement,
  };
}
