// `npm run fuzz -- --minutes N`: the random tests again and again with new seeds, until the time is over or one of them fails. Each round
// prints its seed; `CASCADE_FUZZ_SEED=… CASCADE_SEED=… npx vitest run FILE` repeats it. A seed that has found something is kept in scripts/fuzz-seeds.json
// and comes first in every later run.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { runOnRightNode } from './node/index.mjs';

const FILES = [
  'compiler/fuzz.test.ts',
  'compiler/recovery.test.ts',
  'compiler/format',
  'typing',
  'compiler/print/print.test.ts',
  'compiler/1-parse/hostile.test.ts',
  'stdlib/isolate/random-programs.test.ts',
  'runtime/triggers',
  'runtime/conditions',
  'conformance/differential',
];

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '20' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) {
  console.error('usage: npm run fuzz -- --minutes N');
  process.exit(2);
}
await runOnRightNode();
const root = dirname(dirname(fileURLToPath(import.meta.url)));
await ensureInstalled((line) => console.error(`· ${line}`));
await build();
const until = Date.now() + minutes * 60_000;
let rounds = 0;
const seedsFile = join(root, 'scripts', 'fuzz-seeds.json');
const kept = JSON.parse(readFileSync(seedsFile, 'utf8'));
while (Date.now() < until) {
  const seed = kept[rounds] ?? randomInt(2 ** 31);
  console.log(`round ${++rounds}, seed ${seed}, ${Math.ceil((until - Date.now()) / 60_000)} min left`);
  const { status } = spawnSync(join(root, 'node_modules', '.bin', 'vitest'), ['run', '--reporter=dot', ...FILES], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, CASCADE_FUZZ_SEED: String(seed), CASCADE_SEED: String(seed) },
  });
  if (status !== 0) {
    if (!kept.includes(seed)) writeFileSync(seedsFile, `${JSON.stringify([...kept, seed])}\n`);
    console.error(`a random test failed with seed ${seed}, which is kept in ${seedsFile}`);
    process.exit(1);
  }
}
console.log(`${rounds} rounds, nothing found`);
