// `npm run chaos -- [--kills N] [--seed S] [--verbose]`: the crash test. Prints what was lost, doubled or wrong; exits 1 when anything was.
import { parseArgs } from 'node:util';
import { chaos } from './run.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    verbose: { type: 'boolean', default: false },
  },
});
const kills = Number(values.kills);
const seed = Number(values.seed);
if (!Number.isSafeInteger(kills) || kills < 0 || !Number.isSafeInteger(seed)) throw new Error('--kills and --seed take whole numbers');
const outcome = await chaos({
  kills,
  seed,
  onStep: (line) => console.log(`  ${line}`),
  ...(values.verbose && { onOutput: (text: string) => void process.stderr.write(text) }),
});
for (const kind of ['lost', 'doubled', 'wrong', 'unclear'] as const)
  for (const line of outcome[kind].slice(0, 20)) console.log(`${kind}: ${line}`);
const told = [...outcome.refusals].map(([code, times]) => `${times} × ${code}`).join(', ');
console.log(
  `promised ${outcome.promised}, not answered ${outcome.perhaps}${told && `, refused ${told}`}; ${outcome.effects} effects looked at`,
);
console.log(
  `${outcome.kills} kills, seed ${seed}: lost ${outcome.lost.length}, doubled ${outcome.doubled.length}, wrong ${outcome.wrong.length}, unclear ${outcome.unclear.length}`,
);
process.exitCode = outcome.lost.length + outcome.doubled.length + outcome.wrong.length + outcome.unclear.length === 0 ? 0 : 1;
