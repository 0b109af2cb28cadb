// Pairs of events found by a rule `A BEFORE B WITHIN t CONSTRAIN TO a.value.k == b.value.k`: 1,000,000 events over 100,000 keys in memory, with
// few and with a million windows open, beside a Map by hand; the memory of an open window; and through the whole engine with everything durable,
// events published in arrays and one by one, beside two rules that wait for nothing and beside a collection of open windows kept by hand.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { MongoClient } from 'mongodb';
import pino from 'pino';
import { type CompiledRule, compile } from '../compiler/index.ts';
import { BoundSurrounding, Correlation, type Happening, Values } from '../runtime/correlation/index.ts';
import { type Engine, type Identity, openEngine } from '../runtime/index.ts';
import { openEmbeddedMongod } from '../runtime/mongod/index.ts';
import { builtinTable } from '../stdlib/builtins/index.ts';
import type { ObjectValue } from '../stdlib/values/index.ts';
import { runPeer } from './peers/index.ts';
import type { Figure } from './report.ts';

const ROUNDS = 3;
const EVENTS = 1_000_000;
const KEYS = 100_000;
const WINDOWS = 1_000_000;
const DURABLE_EVENTS = 10_000;
const IN_FLIGHT = 1_000;
/** Of a round, at least. */
const SECONDS_OF_PEER = 4;
/** Events that a client publishes at once. */
const ARRAY = 500;

const RULE = `RULE pair WHEN EVENT OCCURS ON "/topics/a" AS a BEFORE EVENT OCCURS ON "/topics/b" AS b WITHIN 1 hour
CONSTRAIN TO a.value.k == b.value.k
var k = b.value.k`;
const PATHS = ['/topics/a/publish', '/topics/b/publish'] as const;
const log = pino({ level: 'silent' });

/** @param peers Esper is measured, too, where a Java machine is */
export async function correlate({ peers }: { readonly peers: boolean }): Promise<Figure[]> {
  const { rounds, ...few } = inMemory(0);
  const others: Figure['rounds'] = peers ? { Esper: await runPeer('EsperPairs', KEYS, ROUNDS, SECONDS_OF_PEER) } : {};
  return [{ ...few, rounds: { ...rounds, ...others } }, inMemory(WINDOWS), memory(), await durable(ARRAY), await durable(1)];
}

/** An event, and its value as those who commit it have it in hand. */
interface Arriving {
  readonly happening: Happening;
  readonly value: { readonly k: string; readonly n: number; readonly site: string };
}

function machine(): { arrive: (arriving: Arriving) => number; open: () => number } {
  const compiled = compile(RULE, { builtins: builtinTable(), kind: 'rule' });
  const rule = (compiled as { unit: CompiledRule }).unit;
  if (!rule.correlation) throw new Error('no correlation');
  const values = new Values();
  const around = new BoundSurrounding({ places: [], happenings: [] }, rule.triggers, values, 'bench');
  const correlation = new Correlation({
    spec: rule.correlation,
    triggers: rule.triggers,
    conditions: { typeOf: () => null, builtin: () => undefined, namespace: 'bench' },
    mostOpen: 2 * WINDOWS,
    surroundings: {
      surroundingOf: (bound) => {
        around.bound = bound;
        return around;
      },
      onError: (error) => {
        throw error;
      },
      onFull: () => undefined,
    },
  });
  const places = [[0], [1]];
  return {
    arrive({ happening, value }) {
      values.expect(happening, value);
      return correlation.arrive(happening, places[happening.path === PATHS[0] ? 0 : 1] ?? []).completed.length;
    },
    open: () => correlation.open,
  };
}

/** All keys are opened, then all are completed, and so on. */
function event(i: number, key = `key ${(i * 7_919) % KEYS}`, path = PATHS[Math.floor(i / KEYS) % 2] ?? PATHS[0]): Arriving {
  const value = { k: key, n: i, site: 'north' };
  const uuid = `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`;
  return { happening: { uuid, path, value: JSON.stringify(value), atMs: i, by: 'ann', chain: null }, value };
}

/** @param standing windows that are open all the time, of keys that no event has */
function inMemory(standing: number): Figure {
  const rounds: Record<string, number[]> = { cascade: [], 'a Map by hand': [] };
  for (let round = -1; round < ROUNDS; round++) {
    const count = round < 0 ? 2 * KEYS : EVENTS; // the first round warms
    const made = machine();
    const open = new Map<string, Happening>();
    const contestants: Record<string, (arriving: Arriving) => number> = {
      cascade: (arriving) => made.arrive(arriving),
      'a Map by hand': ({ happening, value }) => {
        if (happening.path === PATHS[0]) {
          open.set(value.k, happening);
          return 0;
        }
        const found = open.get(value.k);
        return found && happening.atMs - found.atMs <= 3_600_000 && open.delete(value.k) ? 1 : 0;
      },
    };
    for (const [name, arrive] of Object.entries(contestants)) {
      for (let i = 0; i < standing; i++) arrive(event(i, `standing ${i}`, PATHS[0]));
      let completed = 0;
      let spent = 0;
      for (let from = 0; from < count; from += KEYS) {
        const batch = Array.from({ length: KEYS }, (_, i) => event(from + i));
        const begun = performance.now();
        for (const one of batch) completed += arrive(one);
        spent += performance.now() - begun;
      }
      if (completed !== count / 2) throw new Error(`${name}: ${completed} pairs of ${count / 2}`);
      if (round >= 0) rounds[name]?.push((1_000 * count) / spent);
    }
  }
  const open = standing === 0 ? 'few windows' : `${standing.toLocaleString('en')} more windows`;
  return { name: `correlate: 1,000,000 events over 100,000 keys, in memory, ${open} open`, unit: 'events/s', rounds };
}

function memory(): Figure {
  const kept = { cascade: 0, 'a Map by hand': 0 };
  for (const name of ['cascade', 'a Map by hand'] as const) {
    const made = machine();
    const open = new Map<string, Happening[]>();
    const before = heapBytes();
    for (let i = 0; i < WINDOWS; i++) {
      const arriving = event(i, undefined, PATHS[0]);
      const { k } = arriving.value;
      if (name === 'cascade') made.arrive(arriving);
      else {
        const waiting = open.get(k);
        if (waiting) waiting.push(arriving.happening);
        else open.set(k, [arriving.happening]);
      }
    }
    kept[name] = (heapBytes() - before) / WINDOWS;
    if (name === 'cascade' ? made.open() !== WINDOWS : open.size !== KEYS) throw new Error('not all are open');
  }
  return {
    name: 'correlate: memory of an open window, its event included, 1,000,000 open',
    unit: 'bytes',
    rounds: { cascade: [kept.cascade], 'a Map by hand': [kept['a Map by hand']] },
  };
}

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;
function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

// ---------------------------------------------------------------- durable
/** @param at events that a client publishes at once */
async function durable(at: number): Promise<Figure> {
  const folder = await mkdtemp(join(tmpdir(), 'cascade-bench-'));
  const mongod = await openEmbeddedMongod({ dataDir: folder, log });
  const engine = await openEngine({ mongoUri: mongod.uri, exclusive: true, log });
  const client = await new MongoClient(mongod.uri, { maxPoolSize: 64, writeConcern: { w: 'majority', journal: true } }).connect();
  try {
    const rounds: Record<string, number[]> = { cascade: [], 'two rules that wait for nothing': [], 'a collection by hand': [] };
    for (let round = 0; round < ROUNDS; round++) {
      rounds['cascade']?.push(await throughEngine(engine, `pairs${round}at${at}`, [RULE], at));
      rounds['two rules that wait for nothing']?.push(
        await throughEngine(
          engine,
          `plain${round}at${at}`,
          ['a', 'b'].map((topic) => `RULE on_${topic} WHEN EVENT OCCURS ON "/topics/${topic}" var k = event.value.k`),
          at,
        ),
      );
      rounds['a collection by hand']?.push(await byHand(client, `windows${round}at${at}`, at));
    }
    return {
      name: `correlate: ${DURABLE_EVENTS.toLocaleString('en')} events published, durable, ${at === 1 ? 'one by one' : `${at} at once`}`,
      unit: 'events/s',
      rounds,
    };
  } finally {
    await client.close();
    await engine[Symbol.asyncDispose]();
    await mongod[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Half the events open a window each, the other half completes it. */
async function throughEngine(engine: Engine, namespace: string, rules: readonly string[], at: number): Promise<number> {
  const identity: Identity = { username: 'bench', namespace, profiles: ['admin', 'admin__system'] };
  const ask = (op: string, resourceName: string, rest: object): Promise<unknown> =>
    engine.execute({ identity, op, resourceName, custom: false, parameters: {}, ...rest });
  if (at > 1) for (const name of ['/a', '/b']) await ask('insert', 'topics', { object: { name, autoUnwind: true } });
  for (const text of rules) await ask('insert', 'rules', { text });
  const half = DURABLE_EVENTS / 2;
  const message = (i: number): ObjectValue => ({ k: `key ${i}`, n: i, site: 'north' });
  const begun = performance.now();
  for (const resourceId of ['/a', '/b'])
    await many(half / at, (i) => {
      const object = at === 1 ? message(i) : Array.from({ length: at }, (_, nth) => message(i * at + nth));
      return ask('publish', 'topics', { resourceId, object });
    });
  await engine.settled();
  return (1_000 * DURABLE_EVENTS) / (performance.now() - begun);
}

async function byHand(client: MongoClient, name: string, at: number): Promise<number> {
  const windows = client.db('by_hand').collection<{ _id: string }>(name);
  const half = DURABLE_EVENTS / 2;
  const window = (i: number): { _id: string } => ({ _id: `key ${i}`, n: i, site: 'north', at: new Date() }) as { _id: string };
  const some = (i: number): number[] => Array.from({ length: at }, (_, nth) => i * at + nth);
  const begun = performance.now();
  await many(half / at, (i) => windows.insertMany(some(i).map(window)));
  await many(half / at, async (i) => {
    const _id = { $in: some(i).map((one) => `key ${one}`) };
    const found = await windows.find({ _id }).toArray();
    const { deletedCount } = await windows.deleteMany({ _id });
    if (found.length !== at || deletedCount !== at) throw new Error('a window is lost');
  });
  return (1_000 * DURABLE_EVENTS) / (performance.now() - begun);
}

async function many(count: number, one: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await one(next++);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}
