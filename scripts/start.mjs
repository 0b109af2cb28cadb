// `npm start`: from a fresh clone to a running service. Installs and builds what is missing, then becomes the service:
// `cascade serve --data ./data`, further arguments passed on (a --data or --mongo of yours, or its environment variable, replaces ours).
// The service runs in this very process, so a signal reaches it directly and no process can be left behind. (Where another Node than ours was
// called, see node/become.mjs.)
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureInstalled } from './install.mjs';
import { runOnRightNode } from './node/index.mjs';
import { serviceFlags } from './node/service-flags.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

await runOnRightNode(serviceFlags());
try {
  await ensureInstalled((line) => console.error(`· ${line}`), { dev: false });
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
// The build in a process of its own: nothing of it stays in the service's memory.
const built = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { stdio: ['ignore', 2, 2] });
if (built.status !== 0) process.exit(built.status ?? 1);

const given = process.argv.slice(2);
const variable = (name) => `CASCADE_${name.toUpperCase().replaceAll('-', '_')}`;
const has = (name) => given.some((argument) => argument === name || argument.startsWith(`${name}=`));
const isPlaced = ['data', 'mongo', 'mongo-file'].some((name) => has(`--${name}`) || process.env[variable(name)]);
const data = isPlaced ? [] : ['--data', join(root, 'data')];
const program = join(root, 'bin', 'cascade.js');
process.argv = [process.argv[0], program, 'serve', ...data, ...given];
await import(pathToFileURL(program).href);
