// `npm run nightly [-- --only NAME…] [--minutes N] [--list]`: all of `npm test`, and all that explores with new seeds: hours on two cores. It goes
// on after a failure, prints a summary and exits 1 when anything was red. Seeds that found something are kept (scripts/fuzz-seeds.json) and run
// in every `npm test` from then on.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { runOnRightNode } from './node/index.mjs';
import { choose, plan, usage } from './testing/nightly-plan.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const chosen = choose(process.argv.slice(2), randomInt(2 ** 31));
if (chosen.error) {
  console.error(`${chosen.error}\n${usage()}`);
  process.exit(2);
}
if (chosen.list) {
  for (const { name, what } of plan(chosen)) console.log(`${name.padEnd(24)} ${what}`);
  process.exit(0);
}
await runOnRightNode();
await ensureInstalled((line) => console.log(`· ${line}`));
await build();
console.log(`seed ${chosen.seed}`);
const results = plan(chosen).map(({ name, what, times = 1, command, env = {} }) => {
  console.log(`\n=== ${name}: ${what}\n${command.join(' ')}`);
  const begun = performance.now();
  let red = 0;
  for (let time = 0; time < times; time++) {
    const { status } = spawnSync(command[0] === 'node' ? process.execPath : command[0], command.slice(1), {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, ...env },
    });
    if (status !== 0) red++;
  }
  return { name, red, times, minutes: (performance.now() - begun) / 60_000 };
});
console.log(`\nseed ${chosen.seed}`);
for (const { name, red, times, minutes } of results)
  console.log(
    `${red === 0 ? '✓' : '✗'} ${name.padEnd(24)} ${minutes.toFixed(1).padStart(6)} min${red > 0 ? `  red ${red} of ${times}` : ''}`,
  );
process.exitCode = results.some(({ red }) => red > 0) ? 1 : 0;
