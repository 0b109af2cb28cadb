// `npm run lint`: types and rules, on the Node that the linter's configuration needs.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runOnRightNode } from './node/index.mjs';
import { checks, runChecks } from './testing/checks.mjs';

await runOnRightNode();
process.exitCode = (await runChecks(dirname(dirname(fileURLToPath(import.meta.url))), checks.slice(0, 1))).length;
