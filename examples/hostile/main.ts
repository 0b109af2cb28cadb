// `npm run hostile [-- --only CLASS] [--slow]`: programs that try to take more than their share, against a service of its own, while another
// namespace goes on: each must meet its bound, and the neighbour's rule must answer all the time.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { startService } from '../../conformance/client/index.ts';
import { hostile, type Program } from './hostile.ts';

const { values } = parseArgs({ options: { only: { type: 'string' }, slow: { type: 'boolean', default: false } } });
const all = parse(readFileSync(new URL('./programs.yaml', import.meta.url).pathname.replace('/dist/', '/'), 'utf8')) as Record<
  string,
  Program[]
>;
const chosen = Object.entries(all)
  .filter(([name]) => values.only === undefined || values.only === name)
  .flatMap(([name, programs]) =>
    programs.filter(({ slow }) => values.slow || !slow).map((program) => ({ ...program, does: `${name}: ${program.does}` })),
  );
await using service = await startService();
const { wrong, slowestMs, answers } = await hostile(service, chosen, (line) => console.log(line));
console.log(
  `${chosen.length} programs, ${wrong.length} not bounded as they should be; the neighbour was answered ${answers} times, ${Math.round(slowestMs)} ms at most`,
);
process.exitCode = wrong.length === 0 ? 0 : 1;
