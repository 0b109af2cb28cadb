// What one event leads to may be more than one unit of the committer: a rule over three events in a simulated world, with units so small
// that everything is several, and a service that dies at any moment or loses commands. In the end each completion must have run once.
import { pino } from 'pino';
import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeInner } from '../../stdlib/values/index.ts';
import { systemClock } from '../../platform/clock/index.ts';
import { Committer, readCompletion, runIdOf, type StoredEvent } from '../transactions/index.ts';
import { pureBuiltins } from '../../resources/host-context.ts';
import type { Namespace } from '../../resources/catalog/types.ts';
import type { Store } from '../../platform/mongo/index.ts';
import { TakeOver } from '../cluster/take-over.ts';
import { SimulatedStore } from '../../engine/testing/simulation/index.ts';
import { SimulatedTime } from '../../engine/testing/simulation/timers.ts';
import { type Life, World } from '../../engine/testing/simulation/world.ts';
import { Correlations } from './correlations.ts';
import type { CorrelatedRule, CorrelationHost } from './version-group.ts';
import { compiledRule } from './testing/machine.ts';
import { amount } from '../../scripts/testing/amount.ts';

const LOG = pino({ level: 'silent' });
const TRIPLE = ['a', 'b', 'c'].map((topic) => `EVENT OCCURS ON "/topics/${topic}" AS ${topic}`);
const COMPILED = compiledRule(
  `RULE triple WHEN ${TRIPLE[0]} BEFORE ${TRIPLE[1]} WITHIN 1 hour BEFORE ${TRIPLE[2]} WITHIN 1 hour log.info("x")`,
);
const MOST_STEPS = 20_000;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

let time: SimulatedTime;
beforeAll(() => {
  time = new SimulatedTime();
});
afterAll(() => time[Symbol.dispose]());

/** A life of the service: correlations over the committer, and a run of each completion that stores what it was given. */
class Service {
  readonly committer: Committer;
  readonly #correlations: Correlations;
  readonly #space: Namespace;
  readonly #client: Store['client'];
  isOpen = false;

  constructor(store: SimulatedStore, life: Life, epoch: number) {
    const { client, db } = store.connect(life);
    this.#client = client;
    const conditions = { typeOf: () => null, builtin: pureBuiltins(systemClock), namespace: 'main' };
    this.committer = new Committer({
      client,
      db,
      epoch,
      onEvents: (events) => {
        for (const event of this.#correlations.arrive(events)) for (const { rule } of event.runs) this.#run(event, rule);
      },
      uniqueKeys: () => [],
      findTaken: async () => new Map(),
      onError: () => undefined,
      isFull: () => null,
    });
    const host = {
      namespace: 'main',
      clock: systemClock,
      committer: this.committer,
      conditions,
      cipher: () => null,
      log: LOG,
      failed: (_rule: string, error: unknown) => {
        throw error;
      },
      mostOpen: 1_000,
      evaluationsAUnit: 2,
    } as unknown as CorrelationHost;
    this.#correlations = new Correlations(host);
    this.#correlations.put({
      compiled: COMPILED,
      baseName: 'triple',
      executable: { program: { id: 'p' } } as CorrelatedRule['executable'],
    });
    const executables = { has: () => true };
    this.#space = {
      name: 'main',
      storage: { db, cipher: null },
      transactions: this.committer,
      execution: { executables },
      clock: systemClock,
      log: LOG,
    } as unknown as Namespace;
  }

  async open(dead: readonly number[]): Promise<void> {
    const events = await new TakeOver(this.#space, { client: this.#client }, new Map()).take(dead);
    await this.#correlations.restore(this.#space.storage.db);
    this.#correlations.start(events);
    this.isOpen = true;
  }

  async publish(uuid: string, topic: string): Promise<void> {
    const path = `/topics/${topic}/publish`;
    const runs = this.#correlations.match(path, null, () => ({}));
    const at = new Date(Date.now());
    const event: StoredEvent = { uuid, path, value: encodeInner(uuid), at, by: 'ann', chain: { root: uuid, depth: 0 }, runs };
    const document = { _id: ObjectId.createFromHexString(Buffer.from(uuid.padEnd(12)).toString('hex')), uuid };
    await this.committer.submit({ writes: [{ collection: 't.Sent', op: 'insert', document }], events: [event] });
  }

  get isQuiet(): boolean {
    return this.isOpen && this.committer.waiting === 0 && !this.#correlations.isBusy;
  }

  #run(event: StoredEvent, rule: string): void {
    const given = readCompletion(event.value).argsJson;
    const store = (): void =>
      void this.committer
        .submit({
          writes: [{ collection: 't.Done', op: 'insert', document: { _id: new ObjectId(), given } }],
          events: [],
          done: [runIdOf(event, rule)],
        })
        .catch(() => setTimeout(store, 500));
    store();
  }
}

interface Fate {
  readonly crashes: number;
  readonly faults: number;
}

/** Four events that wait, one that completes the pairs, and one that completes the whole while the pairs are being stored. */
async function run(seed: number, { crashes, faults }: Fate): Promise<{ done: string[]; left: number }> {
  time.reset(seed);
  const world = new World(seed);
  const store = new SimulatedStore(world, {});
  let life: Life = { alive: true };
  let epoch = 1;
  let service = new Service(store, life, epoch);
  const open = (dead: readonly number[]): void => void service.open(dead).catch(() => die());
  let left = crashes;
  const die = (): void => {
    life.alive = false;
    life = { alive: true };
    service = new Service(store, life, ++epoch);
    open(Array.from({ length: epoch - 1 }, (_, i) => i + 1));
  };
  open([]);
  let isLast = false;
  let steps = 0;
  const step = async (): Promise<void> => {
    if (++steps > MOST_STEPS) throw new Error(`seed ${seed} does not come to an end`);
    await turn();
    if (left > 0 && world.chance(isLast ? 0.05 : 0.005)) {
      left--;
      die();
    }
    if (world.chance(0.01) || !world.advance()) time.pass(100);
  };
  /** Until the client has heard of it. It has a name, so that who tries again is known. */
  const published = async (uuid: string, topic: string): Promise<void> => {
    for (;;) {
      const one = service;
      while (!service.isOpen) await step();
      let answer: boolean | null = null;
      service.publish(uuid, topic).then(
        () => (answer = true),
        () => (answer = false),
      );
      while (answer === null && one === service) await step();
      if (answer === true) return;
      if (store.rows('t.Sent').some((row) => row['uuid'] === uuid)) return; // unheard
    }
  };
  for (let i = 0; i < 4; i++) await published(`a${i}`, 'a');
  store.faults = faults;
  isLast = true;
  await published('b', 'b');
  await published('c', 'c');
  for (let quiet = 0; quiet < 20; ) {
    await step();
    store.faults = left === 0 ? 0 : faults;
    quiet = service.isQuiet && left === 0 ? quiet + 1 : 0;
  }
  time.pass(20_000);
  for (let i = 0; i < 200; i++) await step();
  return {
    done: store
      .rows('t.Done')
      .map((row) => String(row['given']))
      .sort(),
    left: store.rows('evaluations').length,
  };
}

const WHOLE = [0, 1, 2, 3].map((i) => expect.stringContaining(`"a${i}"`));

test.each([
  ['undisturbed', { crashes: 0, faults: 0 }],
  ['with commands that fail', { crashes: 1, faults: 0.02 }],
  ['with crashes', { crashes: 3, faults: 0 }],
] as const)('what an event leads to in several units is stored in its order: %s', { timeout: 0 }, async (_, fate) => {
  for (let seed = 1; seed <= amount(60, 150); seed++) expect(await run(seed, fate), `seed ${seed}`).toEqual({ done: WHOLE, left: 0 });
});
