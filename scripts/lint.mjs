// `npm run lint`: types and rules; `npm run check`: all that is checked beside the tests. On the Node that the linter's configuration needs.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runOnRightNode } from './node/index.mjs';
import { checks, runChecks } from './testing/checks.mjs';

await runOnRightNode();
const chosen = process.argv.includes('--all') ? checks : checks.slice(0, 1);
process.exitCode = (await runChecks(dirname(dirname(fileURLToPath(import.meta.url))), chosen)).length;
