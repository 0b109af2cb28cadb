#!/usr/bin/env node
// The command `cascade`: sees to the right Node, then hands over to the built command line. It builds nothing itself.
import { existsSync } from 'node:fs';
import { keepCompiled } from '../scripts/node/compiled.mjs';
import { runOnRightNode } from '../scripts/node/index.mjs';
import { serviceFlags } from '../scripts/node/service-flags.mjs';

await runOnRightNode(process.argv[2] === 'serve' ? serviceFlags() : []);
keepCompiled();
const commandLine = new URL('../dist/cascade/main.js', import.meta.url);
if (existsSync(commandLine)) {
  const { main, processTerminal } = await import(commandLine.href);
  process.exitCode = await main(process.argv.slice(2), processTerminal());
} else {
  console.error('Cascade has not been built yet: run `npm start` or `npm run build` once.');
  process.exitCode = 1;
}
