// A rule counts what is inserted: all on one instance, and spread over many.
import { setTimeout as sleep } from 'node:timers/promises';
import { compare } from '../compare.ts';
import { type Baseline, expectOk, startBaseline } from '../processes.ts';
import { type Figure, progress, timesAsMuch } from '../report/index.ts';
import { ARRAY, baselineOf, type Bench, inserting, instancesIn, post, TEXT_TYPE } from './shared.ts';

const HOT_HITS = 4_000;
/** Enough to tell a rate that does not change. */
const MOST_BY_HAND = 2_000;
const COUNTERS = 10_000;
const CONNECTIONS = 256;

/** Beside an insert and a `$inc`, each awaited, 32 at a time; and one by one over many connections, beside a group commit of both. */
export async function counters(bench: Bench): Promise<Figure[]> {
  const { client, db, store, effort } = bench;
  await expectOk(client, 'POST', '/types', {
    body: { name: 'BenchCounter', properties: { k: { type: 'String', indexed: true }, n: { type: 'Integer' } } },
  });
  await expectOk(client, 'POST', '/types', { body: { name: 'BenchHit', properties: { k: { type: 'String' } } } });
  for (let from = 0; from < COUNTERS; from += ARRAY)
    await post(
      client,
      'BenchCounter',
      Array.from({ length: ARRAY }, (_, i) => ({ k: `k${from + i}`, n: 0 })),
    );
  await expectOk(client, 'POST', '/rules', {
    text: `RULE benchCount WHEN INSERT OCCURS ON BenchHit AS h
SELECT ONE FROM BenchCounter AS c WHERE k == h.k
UPDATE BenchCounter(n: c.n + 1) WHERE _id == c._id`,
    headers: TEXT_TYPE,
  });
  const counted = await instancesIn(db, 'BenchCounter');
  const sum = async (): Promise<number> => {
    const [found] = await counted.aggregate([{ $group: { _id: null, n: { $sum: '$n' } } }]).toArray();
    return Number(found?.['n'] ?? 0);
  };
  const cascade = async (count: number, over: number): Promise<number> => {
    const before = await sum();
    const begun = performance.now();
    for (let from = 0; from < count; from += ARRAY)
      await post(
        client,
        'BenchHit',
        Array.from({ length: Math.min(ARRAY, count - from) }, (_, i) => ({ k: `k${(from + i) % over}` })),
      );
    while ((await sum()) < before + count) await sleep(20);
    return count / ((performance.now() - begun) / 1_000);
  };
  const plain = store.db('bench_durable_baseline');
  await plain.collection('counters').insertMany(Array.from({ length: COUNTERS }, (_, i) => ({ k: `k${i}`, n: 0 })));
  await plain.collection('counters').createIndex({ k: 1 });
  const byHand = async (count: number, over: number): Promise<number> => {
    const begun = performance.now();
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < count) {
        const k = `k${next++ % over}`;
        await plain.collection('hits').insertOne({ k });
        await plain.collection('counters').updateOne({ k }, { $inc: { n: 1 } });
      }
    };
    await Promise.all(Array.from({ length: 32 }, work));
    return count / ((performance.now() - begun) / 1_000);
  };
  const spread = Math.round((COUNTERS * Math.min(effort.seconds, 2)) / 2);
  const figures: Figure[] = [];
  for (const [name, count, over] of [
    ['Counters of a rule, all on one hot instance', HOT_HITS, 1],
    [`Counters of a rule, on ${COUNTERS.toLocaleString('en')} instances`, spread, COUNTERS],
  ] as const) {
    const own: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < effort.rounds; round++) {
      progress(`${name}, round ${round + 1} of ${effort.rounds}`);
      own.push(await cascade(count, over));
      bare.push(await byHand(Math.min(count, MOST_BY_HAND), over));
    }
    const rounds = { cascade: own, 'insert and $inc, awaited': bare };
    const aims = over === 1 ? [3, 10].flatMap((bound) => timesAsMuch(rounds, 'cascade', 'insert and $inc, awaited', bound)) : [];
    figures.push({ name, unit: 'counted/s', rounds, aims });
  }
  figures.push(await oneByOne(bench, sum));
  return figures;
}

const hit = (n: number) => ({ k: `k${(n * 7_919) % COUNTERS}` });

/** @param sum of what is counted */
async function oneByOne(bench: Bench, sum: () => Promise<number>): Promise<Figure> {
  const hits = await instancesIn(bench.db, 'BenchHit');
  const settle = async (): Promise<void> => {
    while ((await sum()) !== (await hits.estimatedDocumentCount())) await sleep(5);
  };
  const baselines: Baseline[] = [];
  try {
    for (const kind of ['counting', 'counting-grouped'])
      baselines.push(await startBaseline(new URL('./baseline.js', import.meta.url), [bench.mongodUri, kind]));
    const [bare, grouped] = baselines as [Baseline, Baseline];
    const contestants = [
      { ...inserting(bench, 'BenchHit', hit), settle },
      baselineOf('bare handler', bare, hit),
      baselineOf('group commit by hand', grouped, hit),
    ];
    const name = `Counters of a rule, on ${COUNTERS.toLocaleString('en')} instances, ${CONNECTIONS} connections`;
    const figure = await compare({ ...bench, name, unit: 'counted/s', connections: CONNECTIONS }, contestants, bench.effort);
    return { ...figure, aims: timesAsMuch(figure.rounds, 'cascade', 'group commit by hand', 0.5) };
  } finally {
    for (const { process } of baselines) process.kill('SIGKILL');
  }
}
