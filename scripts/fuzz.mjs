// `npm run fuzz -- [--minutes N] [--only FILE]…`: the random tests again and again with new seeds, until the time is over; engine/crash-simulation.test.ts,
// when it is asked for by --only, with other simulated worlds in each round. A seed that finds something is kept for its file in scripts/fuzz-seeds.json, and runs in every
// `npm test` from then on. Exits 1 when any was found.
import { randomInt } from 'node:crypto';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { runOnRightNode } from './node/index.mjs';
import { keepSeed, randomTests } from './testing/random-tests.mjs';

const SIMULATION = 'engine/crash-simulation.test.ts';
const WORLDS = 2_000;

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '20' }, only: { type: 'string', multiple: true, default: [] } },
});
const minutes = Number(values.minutes);
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const known = [...randomTests(root), SIMULATION];
const unknown = values.only.find((file) => !known.includes(file));
if (!(minutes > 0) || unknown !== undefined) {
  if (unknown !== undefined) console.error(`${unknown} is no test of random inputs; these are:\n${known.join('\n')}`);
  console.error('usage: npm run fuzz -- [--minutes N] [--only FILE]…');
  process.exit(2);
}
await runOnRightNode();
await ensureInstalled((line) => console.error(`· ${line}`));
await build();
const { runVitest } = await import('./testing/run-vitest.mjs');
const patterns = values.only.length > 0 ? values.only : known.filter((file) => file !== SIMULATION);
const until = Date.now() + minutes * 60_000;
const found = [];
let rounds = 0;
while (Date.now() < until) {
  const seed = 1 + randomInt(2 ** 31 - WORLDS);
  console.log(`round ${++rounds}, seed ${seed}, ${Math.ceil((until - Date.now()) / 60_000)} min left`);
  const { reasons, output } = await runVitest({
    patterns,
    args: ['--reporter=dot', '--reporter=./scripts/testing/report.ts'],
    stdio: 'pipe',
    env: {
      CASCADE_FUZZ_SEED: String(seed),
      CASCADE_SEED: String(seed),
      CASCADE_SIMULATION_FROM: String(seed),
      CASCADE_SIMULATION_SEEDS: String(WORLDS),
    },
  });
  if (reasons.length === 0) continue;
  console.log(output);
  for (const reason of reasons) console.error(`RED: ${reason}`);
  const world = /CASCADE_SIMULATION_SEED=(\d+)/.exec(output)?.[1];
  for (const file of patterns.filter((name) => reasons.some((reason) => reason.includes(name)))) {
    const kept = file === SIMULATION && world ? Number(world) : seed;
    keepSeed(root, file, kept);
    console.error(`seed ${kept} of ${file} is kept`);
  }
  found.push(seed);
}
console.log(`${rounds} rounds, ${found.length} of them found something${found.length > 0 ? `: ${found.join(', ')}` : ''}`);
process.exitCode = found.length > 0 ? 1 : 0;
