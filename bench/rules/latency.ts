// From the acknowledged insert to the rule's effect in the store, through the whole engine and its database; beside two inserts by hand, one
// after the other. And the same while rules are replaced.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHistogram, performance, type RecordableHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import pino from 'pino';
import { type ApiRequest, type Engine, openEngine } from '../../engine/index.ts';
import { openEmbeddedMongod } from '../../platform/mongod/index.ts';
import { type Aim, type Figure, median, progress } from '../report/index.ts';
import { admit, benchUser, requireNoFailures } from '../user.ts';

const ROUNDS = 5;
const RULES = 200;
const SWAPS = 100;
const INSERTS = 600;
/** Inserts come at even intervals, some at a time, whatever the answers take. */
const EVERY_MS = 10;
const AT_ONCE = 2;
const log = pino({ level: 'silent' });
const identity = benchUser('bench');
/** An effect that takes longer will never come. */
const EFFECT_WITHIN_MS = 30_000;

const ruleText = (n: number, text: string): string =>
  `RULE watch${n} WHEN INSERT OCCURS ON Reading AS r WHERE r.meter == ${n} INSERT Alarm(nth: r.nth, text: "${text}")`;

export async function latency(): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'cascade-bench-'));
  try {
    await using mongod = await openEmbeddedMongod({ dataDir: folder, log });
    await using engine = await openEngine({ mongoUri: mongod.uri, exclusive: true, log });
    const client = await new MongoClient(mongod.uri, { writeConcern: { w: 'majority', journal: true } }).connect();
    try {
      return await measured(engine, client);
    } finally {
      await client.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measured(engine: Engine, client: MongoClient): Promise<Figure[]> {
  const ask = (op: string, resourceName: string, rest: Partial<ApiRequest>): Promise<unknown> =>
    engine.execute({ identity, op, resourceName, custom: false, parameters: {}, ...rest });
  await admit(engine, identity);
  const typed = (type: string): object => ({ type });
  await ask('insert', 'types', { object: { name: 'Reading', properties: { meter: typed('Integer'), nth: typed('Integer') } } as never });
  await ask('insert', 'types', { object: { name: 'Alarm', properties: { nth: typed('Integer'), text: typed('String') } } as never });
  for (let n = 0; n < RULES; n++) await ask('insert', 'rules', { text: ruleText(n, 'first') });

  const inserted = new Map<number, number>();
  let effects = createHistogram();
  const stored = (nth: number): void => {
    const acknowledged = inserted.get(nth);
    if (acknowledged === undefined)
      inserted.set(nth, 0); // the effect was there before the answer
    else inserted.delete(nth);
    effects.record(Math.max(1, Math.round((acknowledged === undefined ? 0 : performance.now() - acknowledged) * 1_000)));
  };
  const subscription = await engine.subscribe(identity, '/types/Alarm/insert', {}, (notice) => {
    if (notice.kind === 'event') stored((JSON.parse(notice.valueJson) as { nth: number }).nth);
  });
  let nth = 0;
  const insert = async (): Promise<void> => {
    const own = nth++;
    await ask('insert', 'Reading', { custom: true, object: { meter: own % RULES, nth: own } });
    if (inserted.has(own)) inserted.delete(own);
    else inserted.set(own, performance.now());
  };
  const load = async (meanwhile?: () => Promise<void>): Promise<RecordableHistogram> => {
    effects = createHistogram();
    const swapping = meanwhile?.();
    await evenly(insert);
    await swapping;
    for (const until = performance.now() + EFFECT_WITHIN_MS; inserted.size > 0; await sleep(5)) {
      if (performance.now() < until) continue;
      await requireNoFailures(engine, identity);
      throw new Error(`${inserted.size} inserts had no effect`);
    }
    return effects;
  };
  let swap = 0;
  const swaps = async (): Promise<void> => {
    for (let n = 0; n < SWAPS; n++) {
      await ask('insert', 'rules', { text: ruleText(n, `swap ${swap++}`) });
      await sleep((INSERTS * EVERY_MS) / AT_ONCE / SWAPS / 2);
    }
  };

  progress('rules: latency');
  await load();
  const names = ['cascade', 'cascade, 100 rules swapped', 'a second insert by hand'] as const;
  const all = Object.fromEntries(names.map((name) => [name, [] as RecordableHistogram[]]));
  for (let round = 0; round < ROUNDS; round++) {
    progress(`rules: latency, round ${round + 1} of ${ROUNDS}`);
    all['cascade']?.push(await load());
    all['cascade, 100 rules swapped']?.push(await load(swaps));
    all['a second insert by hand']?.push(await byHand(client));
  }
  subscription.close();
  const at = (name: (typeof names)[number], percentile: number): number[] =>
    (all[name] ?? []).map((histogram) => histogram.percentile(percentile));
  const figure = (percentile: number): Figure => ({
    aims:
      percentile === 99
        ? [swapped(at('cascade', 99), at('cascade, 100 rules swapped', 99))]
        : percentile === 50
          ? [{ what: 'µs, p50 of cascade', is: median(at('cascade', 50)), side: 'atMost', bound: 3_000 }]
          : [],
    name: `rules: from the acknowledged insert to the stored effect, p${percentile}, ${(1_000 / EVERY_MS) * AT_ONCE} inserts/s`,
    unit: 'µs',
    rounds: Object.fromEntries(names.map((name) => [name, at(name, percentile)])),
  });
  return [figure(50), figure(99), figure(99.9)];
}

const swapped = (without: readonly number[], during: readonly number[]): Aim => ({
  what: 'p99 while 100 rules are swapped / without',
  is: median(during) / median(without),
  side: 'atMost',
  bound: 2,
});

/** Calls that come at their times, and are waited for at the end. */
async function evenly(one: () => Promise<void>): Promise<void> {
  const begun = performance.now();
  const open: Promise<void>[] = [];
  for (let turn = 0; turn < INSERTS / AT_ONCE; turn++) {
    await sleep(Math.max(0, begun + turn * EVERY_MS - performance.now()));
    for (let i = 0; i < AT_ONCE; i++) open.push(one());
  }
  await Promise.all(open);
}

async function byHand(client: MongoClient): Promise<RecordableHistogram> {
  const histogram = createHistogram();
  const database = client.db('by_hand');
  await evenly(async () => {
    await database.collection('readings').insertOne({ meter: 1, nth: 1 });
    const acknowledged = performance.now();
    await database.collection('alarms').insertOne({ nth: 1, text: 'first' });
    histogram.record(Math.max(1, Math.round((performance.now() - acknowledged) * 1_000)));
  });
  return histogram;
}
