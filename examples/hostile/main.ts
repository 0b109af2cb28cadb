// `npm run hostile [-- --only CLASS] [--slow] [--clients [--seconds N] [--rounds N]] [--all]`: programs that try to take more than their share, against
// a service of its own, while another namespace goes on: each must meet its bound, and the neighbour's rule must answer all the time. With
// `--clients`: clients in place of programs, all of them at once, in `--rounds N` with a service each. With `--all`: all programs, the slow
// ones too, and then the clients where those are asked for.
import { totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { type StartedService, startService } from '../../conformance/client/index.ts';
import { EXPECTED_ERRORS, hostile, programs } from './hostile.ts';
import { pool, type PoolOutcome } from './pool.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    slow: { type: 'boolean', default: false },
    clients: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '1' },
    all: { type: 'boolean', default: false },
  },
});
/** Of the service's log, those about the main thread. */
const onOutput = (text: string): void => {
  for (const line of text.split('\n')) if (values.clients && line.includes('the main thread was kept')) console.log(line.slice(0, 250));
};
/** The neighbour's latencies under attack, as ratios to those in quiet. */
const MOST_P50 = 3;
const MOST_P99 = 8;
/** What a process may hold in the second half of an attack, as a ratio to the first. */
const GROWTH = 1.25;
/** The cache that the service gives its database, a quarter of the memory up to 1 GB: it fills with what is stored. */
const MONGOD_CACHE_MB = Math.min(1_024, totalmem() / 4 / 2 ** 20);

const start = (): Promise<StartedService> => startService({ expects: EXPECTED_ERRORS, onOutput });
const programsHold = values.clients && !values.all ? true : await ofPrograms();
const clientsHold = values.clients ? await ofClients(Number(values.seconds), Number(values.rounds)) : true;
process.exitCode = programsHold && clientsHold ? 0 : 1;

async function ofPrograms(): Promise<boolean> {
  await using service = await start();
  const chosen = programs().filter(
    ({ does, slow }) => (values.slow || values.all || !slow) && (values.only === undefined || does.startsWith(`${values.only}: `)),
  );
  const { wrong, slowestMs, answers } = await hostile(service, chosen, (line) => console.log(line));
  console.log(
    `${chosen.length} programs, ${wrong.length} not bounded as they should be; the neighbour was answered ${answers} times, ${Math.round(slowestMs)} ms at most`,
  );
  return wrong.length === 0;
}

async function ofClients(seconds: number, rounds: number): Promise<boolean> {
  let isRight = true;
  for (let round = 1; round <= rounds; round++) {
    if (rounds > 1) console.log(`round ${round} of ${rounds}`);
    await using service = await start();
    const outcome = await pool(service, seconds, (line) => console.log(line));
    const wrong = [...outcome.wrong, ...missed(outcome)];
    report(outcome);
    for (const one of wrong) console.log(`✗ ${one}`);
    isRight &&= wrong.length === 0;
  }
  return isRight;
}

function report({ quiet, attacked, bare, stalls, taken, answers }: PoolOutcome): void {
  for (const [does, how] of answers) console.log(`  ${does}: ${[...how].map(([what, count]) => `${what} ${count}`).join(', ')}`);
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  for (const [who, its] of Object.entries({ 'the neighbour': { quiet, attacked }, 'a plain handler': bare })) {
    for (const [when, { count, p50, p99, most }] of Object.entries({ 'in quiet': its.quiet, 'under attack': its.attacked }))
      console.log(`${who} ${when}: ${count} times, p50 ${ms(p50)}, p99 ${ms(p99)}, ${ms(most)} at most`);
    console.log(`p50 ${(its.attacked.p50 / its.quiet.p50).toFixed(1)}x, p99 ${(its.attacked.p99 / its.quiet.p99).toFixed(1)}x`);
  }
  const kept = Object.entries(stalls).map(([cause, { all, over50Ms }]) => `${cause} ${all}, ${over50Ms} over 50 ms`);
  console.log(`stalls of the main thread from 20 ms on: ${kept.join('; ') || 'none'}`);
  for (const [part, { mb, seconds }] of Object.entries(taken))
    console.log(
      `${part}: ${mb.map(Math.round).join(', ')} MB (before, most of each half, after), ${seconds.toFixed(1)} s of the processor`,
    );
}

/** What the service promises its tenants, and did not keep. A machine that gives the service no processor is not its fault. */
function missed({ quiet, attacked, stalls, taken }: PoolOutcome): string[] {
  const wrong: string[] = [];
  for (const [cause, { over50Ms }] of Object.entries(stalls))
    if (over50Ms > 0 && cause !== 'processor') wrong.push(`the main thread was kept for more than 50 ms ${over50Ms} times (${cause})`);
  if (attacked.p50 > quiet.p50 * MOST_P50) wrong.push(`the neighbour's p50 is more than ${MOST_P50} times that in quiet`);
  if (attacked.p99 > quiet.p99 * MOST_P99) wrong.push(`the neighbour's p99 is more than ${MOST_P99} times that in quiet`);
  for (const [part, { mb }] of Object.entries(taken))
    if (mb[2]! > Math.max(mb[1]! * GROWTH, part === 'mongod' ? mb[0]! + MONGOD_CACHE_MB : 0))
      wrong.push(`${part} went from ${Math.round(mb[1]!)} to ${Math.round(mb[2]!)} MB`);
  return wrong;
}
