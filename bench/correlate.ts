// Pairs of events found by a rule `A BEFORE B WITHIN t CONSTRAIN TO a.value.k == b.value.k`: 1,000,000 events over 100,000 keys in memory, beside
// a Map by hand; what an event costs while 10,000 to 1,000,000 windows are open; the memory of an open window; and through the whole engine with
// everything durable, events published in arrays and one by one, beside two rules that wait for nothing and beside a collection of open windows
// kept by hand.

import { setTimeout as sleep } from 'node:timers/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Collection, MongoClient } from 'mongodb';
import pino from 'pino';
import { type CompiledRule, compile } from '../compiler/index.ts';
import { BindingsContext, Correlation, type MatchedEvent, EventValues } from '../runtime/correlation/index.ts';
import { type Engine, openEngine } from '../engine/index.ts';
import { openEmbeddedMongod } from '../platform/mongod/index.ts';
import { builtinTable } from '../stdlib/builtins/index.ts';
import type { ObjectValue } from '../stdlib/values/index.ts';
import { runPeer } from './peers/index.ts';
import { type Figure, median, progress, timesAsMuch } from './report/index.ts';
import { admit, benchUser, requireNoFailures } from './user.ts';

const ROUNDS = 5;
const EVENTS = 1_000_000;
const KEYS = 100_000;
const WINDOWS = 1_000_000;
/** Windows that stand open while events of other keys come. */
const STANDING = [10_000, 100_000, 1_000_000];
/** Of a round, at least. */
const SECONDS_OF_PEER = 4;
/** How events are published: so many in one request, so many requests under way, over so many keys; a round is all keys opened, then all completed. */
const IN_ARRAYS = { at: 1_000, inFlight: 8, keys: 100_000, rounds: 5 } as const;
const ONE_BY_ONE = { at: 1, inFlight: 256, keys: 10_000, rounds: 3 } as const;
type Load = typeof IN_ARRAYS | typeof ONE_BY_ONE;

const RULE = `RULE pair WHEN EVENT OCCURS ON "/topics/a" AS a BEFORE EVENT OCCURS ON "/topics/b" AS b WITHIN 1 hour
CONSTRAIN TO a.value.k == b.value.k
var k = b.value.k`;
const PATHS = ['/topics/a/publish', '/topics/b/publish'] as const;
const log = pino({ level: 'silent' });

/** @param peers Esper is measured, too, where a Java machine is */
export async function* correlate({ peers }: { readonly peers: boolean }): AsyncGenerator<Figure> {
  const alone = inMemory();
  if (peers) progress('correlate: in Esper');
  const others: Figure['rounds'] = peers ? { Esper: await runPeer('EsperPairs', KEYS, ROUNDS, SECONDS_OF_PEER) } : {};
  const rounds = { ...alone.rounds, ...others };
  yield {
    ...alone,
    rounds,
    aims: [...timesAsMuch(rounds, 'cascade', 'a Map by hand', 0.4), ...timesAsMuch(rounds, 'cascade', 'Esper', 5)],
  };
  yield whileManyStand();
  yield memory();
  yield await durable(IN_ARRAYS);
  yield await durable(ONE_BY_ONE);
}

/** An event, and its value as those who commit it have it in hand. */
interface Arriving {
  readonly matched: MatchedEvent;
  readonly value: { readonly k: string; readonly n: number; readonly site: string };
}

function machine(): { arrive: (arriving: Arriving) => number; open: () => number } {
  const compiled = compile(RULE, { builtins: builtinTable(), kind: 'rule' });
  const rule = (compiled as { unit: CompiledRule }).unit;
  if (!rule.correlation) throw new Error('no correlation');
  const values = new EventValues();
  const context = new BindingsContext({ places: [], events: [] }, rule.triggers, values, 'bench');
  const correlation = new Correlation({
    spec: rule.correlation,
    triggers: rule.triggers,
    conditions: { typeOf: () => null, builtin: () => undefined, namespace: 'bench' },
    mostOpen: 2 * WINDOWS,
    environment: {
      contextOf: (bindings) => {
        context.bindings = bindings;
        return context;
      },
      onError: (error) => {
        throw error;
      },
      onFull: () => undefined,
    },
  });
  const places = [[0], [1]];
  return {
    arrive({ matched, value }) {
      values.expect(matched, value);
      return correlation.arrive(matched, places[matched.path === PATHS[0] ? 0 : 1] ?? []).completed.length;
    },
    open: () => correlation.open,
  };
}

/** All keys are opened, then all are completed, and so on. */
function event(i: number, key = `key ${(i * 7_919) % KEYS}`, path = PATHS[Math.floor(i / KEYS) % 2] ?? PATHS[0], laterBy = 0): Arriving {
  const value = { k: key, n: i, site: 'north' };
  const uuid = `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`;
  return { matched: { uuid, path, value: JSON.stringify(value), atMs: laterBy + i, by: 'ann', chain: null }, value };
}

type Arrive = (arriving: Arriving) => number;

/** Events of all keys, in turn on both paths. @param laterBy ms: after all that came before @returns events a second */
function pairs(arrive: Arrive, count: number, laterBy = 0): number {
  let completed = 0;
  let spent = 0;
  for (let from = 0; from < count; from += KEYS) {
    const batch = Array.from({ length: KEYS }, (_, i) => event(from + i, undefined, undefined, laterBy));
    const begun = performance.now();
    for (const one of batch) completed += arrive(one);
    spent += performance.now() - begun;
  }
  if (completed !== count / 2) throw new Error(`${completed} pairs of ${count / 2}`);
  return (1_000 * count) / spent;
}

function inMemory(): Figure {
  const rounds: Record<string, number[]> = { cascade: [], 'a Map by hand': [] };
  for (let round = -1; round < ROUNDS; round++) {
    progress(`correlate: in memory, ${round < 0 ? 'warming' : `round ${round + 1} of ${ROUNDS}`}`);
    const open = new Map<string, MatchedEvent>();
    const contestants: Record<string, Arrive> = {
      cascade: machine().arrive,
      'a Map by hand': ({ matched, value }) => {
        if (matched.path === PATHS[0]) {
          open.set(value.k, matched);
          return 0;
        }
        const found = open.get(value.k);
        return found && matched.atMs - found.atMs <= 3_600_000 && open.delete(value.k) ? 1 : 0;
      },
    };
    for (const [name, arrive] of Object.entries(contestants)) {
      const perSecond = pairs(arrive, round < 0 ? 2 * KEYS : EVENTS);
      if (round >= 0) rounds[name]?.push(perSecond);
    }
  }
  return { name: 'correlate: 1,000,000 events over 100,000 keys, in memory', unit: 'events/s', rounds };
}

/** In turn, so that noise meets all alike. */
function whileManyStand(): Figure {
  const nameOf = (standing: number): string => `${standing.toLocaleString('en')} windows stand open`;
  const machines = STANDING.map((standing) => {
    progress(`correlate: ${nameOf(standing)}`);
    const { arrive } = machine();
    for (let i = 0; i < standing; i++) arrive(event(i, `standing ${i}`, PATHS[0]));
    pairs(arrive, 2 * KEYS, standing); // this warms
    return { name: nameOf(standing), arrive, standing };
  });
  const rounds: Record<string, number[]> = {};
  for (let round = 0; round < ROUNDS; round++) {
    progress(`correlate: while windows stand open, round ${round + 1} of ${ROUNDS}`);
    for (const { name, arrive, standing } of machines) (rounds[name] ??= []).push(pairs(arrive, 4 * KEYS, standing));
  }
  const [few, many] = [nameOf(10_000), nameOf(1_000_000)];
  const is = median(rounds[few] ?? []) / median(rounds[many] ?? []);
  return {
    name: 'correlate: events over 100,000 keys, in memory, while others stand open',
    unit: 'events/s',
    rounds,
    aims: [{ what: `the cost of an event, ${many} / ${few}`, is, side: 'atMost', bound: 1.2 }],
  };
}

function memory(): Figure {
  progress('correlate: memory of open windows');
  const kept = { cascade: 0, 'a Map by hand': 0 };
  for (const name of ['cascade', 'a Map by hand'] as const) {
    const made = machine();
    const open = new Map<string, MatchedEvent[]>();
    const before = heapBytes();
    for (let i = 0; i < WINDOWS; i++) {
      const arriving = event(i, undefined, PATHS[0]);
      const { k } = arriving.value;
      if (name === 'cascade') made.arrive(arriving);
      else {
        const waiting = open.get(k);
        if (waiting) waiting.push(arriving.matched);
        else open.set(k, [arriving.matched]);
      }
    }
    kept[name] = (heapBytes() - before) / WINDOWS;
    if (name === 'cascade' ? made.open() !== WINDOWS : open.size !== KEYS) throw new Error('not all are open');
  }
  return {
    name: 'correlate: memory of an open window, its event included, 1,000,000 open',
    unit: 'bytes',
    rounds: { cascade: [kept.cascade], 'a Map by hand': [kept['a Map by hand']] },
    aims: [{ what: 'bytes of a window', is: kept.cascade, side: 'atMost', bound: 400 }],
  };
}

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;
function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

// ---------------------------------------------------------------- durable
async function durable(load: Load): Promise<Figure> {
  const { at, inFlight, keys } = load;
  const how = at === 1 ? `one by one over ${inFlight} connections` : `in arrays of ${at.toLocaleString('en')}`;
  const folder = await mkdtemp(join(tmpdir(), 'cascade-bench-'));
  const mongod = await openEmbeddedMongod({ dataDir: folder, log });
  const engine = await openEngine({ mongoUri: mongod.uri, exclusive: true, log });
  const client = await new MongoClient(mongod.uri, { maxPoolSize: 64, writeConcern: { w: 'majority', journal: true } }).connect();
  try {
    const windows = client.db('by_hand').collection<{ _id: string }>('windows');
    const plain = ['a', 'b'].map((topic) => `RULE on_${topic} WHEN EVENT OCCURS ON "/topics/${topic}" var k = event.value.k`);
    const contestants = {
      cascade: await throughEngine(engine, 'pairs', [RULE], load),
      'two rules that wait for nothing': await throughEngine(engine, 'plain', plain, load),
      'a collection by hand': () => byHand(windows, load),
    };
    const rounds: Record<string, number[]> = {};
    for (let round = 0; round < load.rounds; round++)
      for (const [name, work] of Object.entries(contestants)) {
        progress(`correlate: durable, ${how}: ${name}, round ${round + 1} of ${load.rounds}`);
        const begun = performance.now();
        await work();
        (rounds[name] ??= []).push((1_000 * 2 * keys) / (performance.now() - begun));
      }
    const events = (2 * keys * load.rounds).toLocaleString('en');
    return {
      name: `correlate: ${events} events over ${keys.toLocaleString('en')} keys, durable, ${how}`,
      unit: 'events/s',
      rounds,
      aims: timesAsMuch(rounds, 'cascade', 'a collection by hand', 0.5),
    };
  } finally {
    await client.close();
    await engine[Symbol.asyncDispose]();
    await mongod[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs; beyond twice as many the service takes nothing that starts more. */
const MOST_WAITING = 25_000;

/** Gives a round: half its events open a window each, the other half completes it; and all that this leads to is done. */
async function throughEngine(
  engine: Engine,
  namespace: string,
  rules: readonly string[],
  { at, inFlight, keys }: Load,
): Promise<() => Promise<void>> {
  const identity = benchUser(namespace);
  await admit(engine, identity);
  const ask = (op: string, resourceName: string, rest: object): Promise<unknown> =>
    engine.execute({ identity, op, resourceName, custom: false, parameters: {}, ...rest });
  if (at > 1) for (const name of ['/a', '/b']) await ask('insert', 'topics', { object: { name, autoUnwind: true } });
  for (const text of rules) await ask('insert', 'rules', { text });
  const message = (i: number): ObjectValue => ({ k: `key ${i}`, n: i, site: 'north' });
  const publish = async (resourceId: string, i: number): Promise<unknown> => {
    // As a client does who is told that too much waits.
    while ((await engine.load()).queueDepth > MOST_WAITING) await sleep(5);
    const object = at === 1 ? message(i) : Array.from({ length: at }, (_, nth) => message(i * at + nth));
    return ask('publish', 'topics', { resourceId, object });
  };
  return async () => {
    for (const resourceId of ['/a', '/b']) await many(keys / at, inFlight, (i) => publish(resourceId, i));
    await engine.settled();
    await requireNoFailures(engine, identity);
  };
}

async function byHand(windows: Collection<{ _id: string }>, { at, inFlight, keys }: Load): Promise<void> {
  const window = (i: number): { _id: string } => ({ _id: `key ${i}`, n: i, site: 'north', at: new Date() }) as { _id: string };
  const some = (i: number): number[] => Array.from({ length: at }, (_, nth) => i * at + nth);
  await many(keys / at, inFlight, (i) => windows.insertMany(some(i).map(window)));
  await many(keys / at, inFlight, async (i) => {
    const _id = { $in: some(i).map((one) => `key ${one}`) };
    const found = await windows.find({ _id }).toArray();
    const { deletedCount } = await windows.deleteMany({ _id });
    if (found.length !== at || deletedCount !== at) throw new Error('a window is lost');
  });
}

async function many(count: number, atOnce: number, one: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await one(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
