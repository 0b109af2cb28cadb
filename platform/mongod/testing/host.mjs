// A service reduced to its embedded database, as a process that tests can kill: `node host.mjs DATA_DIR`.
// It says `ready {"uri","pid","port","isAdopted"}` on a line, and closes in order on SIGTERM.
import { openEmbeddedMongod } from '../../../dist/platform/mongod/index.js';
import { pino } from 'pino';

try {
  const mongod = await openEmbeddedMongod({ dataDir: process.argv[2], log: pino({ level: 'silent' }), graceMs: 2_000 });
  const alive = setInterval(() => {}, 1_000);
  process.once('SIGTERM', async () => {
    clearInterval(alive);
    await mongod[Symbol.asyncDispose]();
  });
  const { uri, pid, port, isAdopted } = mongod;
  console.log(`ready ${JSON.stringify({ uri, pid, port, isAdopted })}`);
} catch (error) {
  console.log(`failed ${JSON.stringify(error.message)}`);
  process.exitCode = 1;
}
