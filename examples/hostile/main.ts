// `npm run hostile [-- --only CLASS] [--slow] [--clients [--seconds N]]`: programs that try to take more than their share, against a service of its
// own, while another namespace goes on: each must meet its bound, and the neighbour's rule must answer all the time. With `--clients`: clients in
// place of programs, all of them at once.
import { parseArgs } from 'node:util';
import { startService } from '../../conformance/client/index.ts';
import { EXPECTED_ERRORS, hostile, programs } from './hostile.ts';
import { pool } from './pool.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    slow: { type: 'boolean', default: false },
    clients: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '60' },
  },
});
/** Of the service's log, those about the main thread. */
const onOutput = (text: string): void => {
  for (const line of text.split('\n')) if (values.clients && line.includes('the main thread was kept')) console.log(line.slice(0, 250));
};
await using service = await startService({ expects: EXPECTED_ERRORS, onOutput });
process.exitCode = (values.clients ? await ofClients(Number(values.seconds)) : await ofPrograms()) ? 0 : 1;

async function ofPrograms(): Promise<boolean> {
  const chosen = programs().filter(
    ({ does, slow }) => (values.slow || !slow) && (values.only === undefined || does.startsWith(`${values.only}: `)),
  );
  const { wrong, slowestMs, answers } = await hostile(service, chosen, (line) => console.log(line));
  console.log(
    `${chosen.length} programs, ${wrong.length} not bounded as they should be; the neighbour was answered ${answers} times, ${Math.round(slowestMs)} ms at most`,
  );
  return wrong.length === 0;
}

async function ofClients(seconds: number): Promise<boolean> {
  const { quiet, attacked, stalls, residentMb, answers, wrong } = await pool(service, seconds, (line) => console.log(line));
  for (const [does, how] of answers) console.log(`  ${does}: ${[...how].map(([what, count]) => `${what} ${count}`).join(', ')}`);
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  for (const [when, { count, p50, p99, most }] of Object.entries({ 'in quiet': quiet, 'under attack': attacked }))
    console.log(`the neighbour ${when}: ${count} times, p50 ${ms(p50)}, p99 ${ms(p99)}, ${ms(most)} at most`);
  console.log(`p50 ${(attacked.p50 / quiet.p50).toFixed(1)}x, p99 ${(attacked.p99 / quiet.p99).toFixed(1)}x`);
  console.log(`stalls of the main thread: ${stalls.over50Ms} over 50 ms; from 20 ms on ${JSON.stringify(stalls.byCause)}`);
  console.log(`the service holds ${residentMb.map((mb) => Math.round(mb)).join(', ')} MB (before, at most, after)`);
  for (const one of wrong) console.log(`✗ ${one}`);
  return wrong.length === 0;
}
