// `npm test`: everything that must hold, from a fresh clone on. Installs and builds what is missing, then the checks of form, types and
// directions beside all tests. `npm test -- PATTERN…` runs only the tests whose file names hold a pattern.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './install.mjs';
import { runOnRightNode } from './node/index.mjs';
import { runChecks } from './testing/checks.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const patterns = process.argv.slice(2);
const [option] = patterns.filter((pattern) => pattern.startsWith('-'));
if (option !== undefined) {
  console.error(`npm test takes parts of the names of files, and no ${option}: npm test -- compiler/print`);
  process.exit(2);
}
const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;
const begun = performance.now();

await runOnRightNode();
process.exitCode = await main();

async function main() {
  try {
    await ensureInstalled((line) => console.log(`· ${line}`));
  } catch (error) {
    console.error(error.message);
    return 1;
  }
  if (spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { stdio: 'inherit' }).status !== 0) return 1;
  const { runVitest } = await import('./testing/run-vitest.mjs');
  // One after the other beside the tests, so that neither core is idle; their output comes whole, when each ends.
  const beside = async () => ({ failed: await runChecks(root), again: await runKeptSeeds(runVitest) });
  const [{ failed, again }, { reasons, notices }] = await Promise.all([
    patterns.length > 0 ? { failed: [], again: [] } : beside(),
    runVitest({ patterns }),
  ]);
  reasons.push(...again);
  console.log(`in all ${seconds(begun)}`);
  for (const notice of notices) console.log(`NOTICE: ${notice}`);
  for (const holds of failed) console.error(`RED: not that ${holds}`);
  for (const reason of reasons) console.error(`RED: ${reason}`);
  return failed.length + reasons.length > 0 ? 1 : 0;
}

/** Random tests have the same seed in every run; those that found something once are tried besides. */
async function runKeptSeeds(runVitest) {
  const { readSeeds, seeded } = await import('./testing/random-tests.mjs');
  const found = [];
  for (const { file, seed } of readSeeds(root)) {
    const { reasons, output } = await runVitest({ patterns: [file], env: seeded(file, seed), stdio: 'pipe' });
    console.log(`${reasons.length === 0 ? '✓' : `✗\n${output}`} ${file} with the kept seed ${seed}`);
    found.push(...reasons.map((reason) => `${reason} (with the kept seed ${seed})`));
  }
  return found;
}
