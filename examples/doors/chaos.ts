// Doors and what was seen behind them, while the service is killed (SIGKILL) with windows open and timers set: each pair is noted once,
// each door behind which nothing moved once, and each planned message comes once.
// `node scripts/run.mjs examples/doors/chaos [KILLS] [DOORS] [SEED]` prints whether anything was lost or doubled.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Json, parseJson, RestClient, type StartedService, startService } from '../../conformance/client/index.ts';

const KILL_BEFORE_MS = 1_500;
const COMPLETE_WITHIN_MS = 60_000;
const QUIET_MS = 1_500;

const TYPE: Json = { name: 'Noted', properties: { by: { type: 'String' }, door: { type: 'String' } } };
const RULES = [
  `RULE passed WHEN EVENT OCCURS ON "/topics/door" AS d BEFORE EVENT OCCURS ON "/topics/move" AS m WITHIN 1 hour
   CONSTRAIN TO d.value.door == m.value.door
   INSERT Noted(by: "passed", door: d.value.door)`,
  `RULE nobody WHEN EVENT OCCURS ON "/topics/door" AS d BEFORE EVENT OCCURS ON "/topics/nothing" AS n WITHIN 3 seconds
   log.info("never")
   TIMEOUT
   INSERT Noted(by: "nobody", door: d.value.door)`,
  `RULE thrice WHEN EVENT OCCURS ON "/topics/door" AS a BEFORE EVENT OCCURS ON "/topics/move" AS b WITHIN 1 hour CONSTRAIN TO a.value.door == b.value.door
   BEFORE EVENT OCCURS ON "/topics/shut" AS c WITHIN 1 hour CONSTRAIN TO c.value.door == a.value.door
   INSERT Noted(by: "thrice", door: c.value.door)`,
  'RULE planned WHEN EVENT OCCURS ON "/topics/planned" AS p INSERT Noted(by: "planned", door: p.value.door)',
];

export interface DoorsOutcome {
  readonly kills: number;
  /** What is not as it should be; nothing when all is well. */
  readonly wrong: string[];
}

/** @param seed decides when the service is killed after each phase */
export async function doors(service: StartedService, kills: number, count: number, seed: number): Promise<DoorsOutcome> {
  const client = new RestClient(service.url, 16);
  try {
    await client.login(service.user, service.password);
    await accepted(client.send('POST', '/types', { body: TYPE }));
    for (const text of RULES) await accepted(client.send('POST', '/rules', { text }));
    const names = Array.from({ length: count }, (_, i) => `door ${i}`);
    const even = names.filter((_, i) => i % 2 === 0);
    const publish = (topic: string, some: readonly string[]): Promise<unknown> =>
      Promise.all(some.map((door) => accepted(client.send('POST', `/topics//${topic}`, { body: { door } }))));
    const plan = (some: readonly string[]): Promise<unknown> =>
      Promise.all(
        some.map((door, i) => {
          const body = parseJson(JSON.stringify({ topic: '/planned', interval: 50 + i * 20, message: { door } }));
          return accepted(client.send('POST', '/scheduledevents', { body }));
        }),
      );
    const phases = [() => publish('door', names), () => plan(names), () => publish('move', even), () => publish('shut', even)];
    const random = randomFrom(seed);
    let killed = 0;
    for (const [i, phase] of phases.entries()) {
      await phase();
      while (killed < Math.ceil(((i + 1) * kills) / phases.length)) {
        await sleep(random() * KILL_BEFORE_MS);
        await service.kill();
        killed++;
        await service.restart();
      }
    }
    const wanted = { passed: even, nobody: names, thrice: even, planned: names };
    return { kills: killed, wrong: await differences(client, wanted) };
  } finally {
    client.close();
  }
}

/** Waits until all is there, and then for a while whether more comes. */
async function differences(client: RestClient, wanted: Readonly<Record<string, readonly string[]>>): Promise<string[]> {
  const total = Object.values(wanted).reduce((sum, { length }) => sum + length, 0);
  const noted = async (): Promise<{ by: string; door: string }[]> =>
    JSON.parse((await accepted(client.send('GET', '/custom/Noted?limit=10000'))).text) as { by: string; door: string }[];
  for (const until = performance.now() + COMPLETE_WITHIN_MS; (await noted()).length < total && performance.now() < until; )
    await sleep(100);
  await sleep(QUIET_MS);
  const rows = await noted();
  return Object.entries(wanted).flatMap(([by, names]) => {
    const counts = new Map(names.map((name) => [name, 0]));
    for (const row of rows) if (row.by === by) counts.set(row.door, (counts.get(row.door) ?? 0) + 1);
    return [...counts]
      .filter(([name, times]) => times !== (names.includes(name) ? 1 : 0))
      .map(([name, times]) => `${by} ${name}: ${times} times`);
  });
}

async function accepted<R extends { status: number; text: string }>(reply: Promise<R>): Promise<R> {
  const given = await reply;
  if (given.status >= 300) throw new Error(`${given.status} ${given.text}`);
  return given;
}

/** Mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

if (process.argv[1]?.endsWith('doors/chaos.js')) {
  const [kills = 8, count = 200, seed = 1] = process.argv.slice(2).map(Number);
  await using service = await startService();
  const outcome = await doors(service, kills, count, seed);
  for (const line of outcome.wrong.slice(0, 50)) console.log(line);
  console.log(`${outcome.kills} kills, ${outcome.wrong.length === 0 ? 'nothing lost, nothing doubled' : 'NOT as it should be'}`);
  process.exitCode = outcome.wrong.length === 0 ? 0 : 1;
}
