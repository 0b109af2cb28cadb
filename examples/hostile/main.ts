// `npm run hostile [-- --only CLASS] [--slow]`: programs that try to take more than their share, against a service of its own, while another
// namespace goes on: each must meet its bound, and the neighbour's rule must answer all the time.
import { parseArgs } from 'node:util';
import { startService } from '../../conformance/client/index.ts';
import { EXPECTED_ERRORS, hostile, programs } from './hostile.ts';

const { values } = parseArgs({ options: { only: { type: 'string' }, slow: { type: 'boolean', default: false } } });
const chosen = programs().filter(
  ({ does, slow }) => (values.slow || !slow) && (values.only === undefined || does.startsWith(`${values.only}: `)),
);
await using service = await startService({ expects: EXPECTED_ERRORS });
const { wrong, slowestMs, answers } = await hostile(service, chosen, (line) => console.log(line));
console.log(
  `${chosen.length} programs, ${wrong.length} not bounded as they should be; the neighbour was answered ${answers} times, ${Math.round(slowestMs)} ms at most`,
);
process.exitCode = wrong.length === 0 ? 0 : 1;
