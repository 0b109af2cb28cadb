// Runs one of the programs that are not the service, from a fresh clone on: `node scripts/run.mjs conformance/main ARGS…`.
// `node scripts/run.mjs example NAME ARGS…` runs examples/NAME/main.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { runOnRightNode } from './node/index.mjs';

await runOnRightNode();
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [first, ...rest] = process.argv.slice(2);
const isExample = first === 'example';
const program = isExample ? `examples/${rest[0]}/main` : first;
if (!program || !existsSync(join(root, `${program}.ts`))) {
  console.error(
    isExample ? `There is no example '${rest[0] ?? ''}' (see examples/)` : 'usage: node scripts/run.mjs FOLDER/FILE [ARGUMENTS]',
  );
  process.exit(2);
}
try {
  await ensureInstalled((line) => console.error(`· ${line}`));
  await build();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const file = join(root, 'dist', `${program}.js`);
process.argv = [process.argv[0], file, ...(isExample ? rest.slice(1) : rest)];
await import(pathToFileURL(file).href);
