// The crash test; `--help` says what it can be told.
import { parseArgs } from 'node:util';
import { buildWith, CHAOS_FAULTS, repository } from './faults.ts';
import { chaosOfTwo } from './pair.ts';
import { chaosOfMembers } from './members.ts';
import { chaosOfPower } from './power.ts';
import { chaosOfProcesses } from './processes.ts';
import { chaos } from './run.ts';

const HELP = `npm run chaos -- [--kills N] [--seed S] [--verbose]
  Kills service, sandbox and database N times (100), with stops, slowness and a full disk in between; before each fiftieth kill the
  service stands still for longer than its lease. Prints what was lost, doubled or wrong; exits 1 when anything was.
npm run chaos -- --stands N [--seed S] [--verbose]
  Two processes serve one database; N times one of them stands still for longer than its lease, is taken over by the other one, wakes and
  is started again.
npm run chaos -- --processes N [--seed S] [--verbose]
  Three processes serve one database; N times one of them ends and is started again: three of four times it is killed, the fourth time it is stopped in order, or
  stands still (each hundredth time for longer than its lease).
npm run chaos -- --members N [--seed S] [--verbose]
  One process on a replica set of three members; N times a primary is killed, steps down, stands still or cannot be reached, or a secondary is killed, now and
  then with the service or its sandbox at the same time, and the clock of the service jumps (needs libfaketime; without it, it does not).
npm run chaos -- --power N [--seed S] [--verbose] [--without syncs]
  The power fails N times: service and database end at once, and what the database had written and not synced is gone (Linux, with a C compiler).
  Without syncs the database is not heard when it syncs its journal; exits 1 when the checker is content then.
npm run chaos -- --without marks|journal|versions …
  As above, against a copy of the service that lacks these; exits 1 when the checker is content.`;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    stands: { type: 'string' },
    processes: { type: 'string' },
    members: { type: 'string' },
    power: { type: 'string' },
    seed: { type: 'string', default: '1' },
    without: { type: 'string' },
    verbose: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit();
}
/** What ends how often, and what that is called. */
const MODES = {
  stands: [chaosOfTwo, 'stands'],
  processes: [chaosOfProcesses, 'ends of processes'],
  members: [chaosOfMembers, 'ends of members'],
  power: [chaosOfPower, 'failures of the power'],
  kills: [chaos, 'kills'],
} as const;
const mode = (['stands', 'processes', 'members', 'power'] as const).find((name) => values[name] !== undefined) ?? 'kills';
const [run, ends] = MODES[mode];
const kills = Number(values[mode]);
const seed = Number(values.seed);
if (!Number.isSafeInteger(kills) || kills < 0 || !Number.isSafeInteger(seed))
  throw new Error('--kills, --stands, --processes, --members, --power and --seed take whole numbers');
const isUnheard = mode === 'power' && values.without === 'syncs';
const fault = CHAOS_FAULTS.find(({ name }) => name === values.without);
if (values.without !== undefined && !fault && !isUnheard)
  throw new Error(`--without takes ${CHAOS_FAULTS.map(({ name }) => name).join(', ')}, and with --power syncs`);
using copy = fault ? await buildWith(fault, repository()) : null;
const outcome = await run(
  {
    kills,
    seed,
    ...(copy && { program: copy.program }),
    onStep: (line) => console.log(`  ${line}`),
    ...(values.verbose && { onOutput: (text: string) => void process.stderr.write(text) }),
  },
  isUnheard,
);
for (const kind of ['lost', 'doubled', 'wrong', 'unclear'] as const)
  for (const line of outcome[kind].slice(0, 20)) console.log(`${kind}: ${line}`);
const reported = [...outcome.refusals].map(([code, times]) => `${times} × ${code}`).join(', ');
console.log(
  `promised ${outcome.promised}, not answered ${outcome.perhaps}${reported && `, refused ${reported}`}; ${outcome.effects} effects looked at`,
);
console.log(
  `${outcome.kills} ${ends}, seed ${seed}: lost ${outcome.lost.length}, doubled ${outcome.doubled.length}, wrong ${outcome.wrong.length}, unclear ${outcome.unclear.length}`,
);
const [half, most] = [outcome.outages.within(0.5), outcome.outages.within(0.99)];
if (half !== null && most !== null)
  console.log(`from a kill to the first acknowledged change: p50 ${Math.round(half)} ms, p99 ${Math.round(most)} ms`);
const control = isUnheard ? ({ name: 'syncs', reported: 'lost' } as const) : fault;
if (control) {
  const noticed = outcome[control.reported].length > 0;
  console.log(`without ${control.name}: ${noticed ? `noticed as ${control.reported}` : 'NOT NOTICED'}`);
  process.exitCode = noticed ? 0 : 1;
} else process.exitCode = outcome.lost.length + outcome.doubled.length + outcome.wrong.length + outcome.unclear.length === 0 ? 0 : 1;
