// Before all tests: dist/ is brought up to date (child processes and workers run from it), and one embedded mongod is started for them
// all, in a folder that goes with it. Its address is in CASCADE_TEST_MONGO; when that is set already, that one is used.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { openEmbeddedMongod } from '../../platform/mongod/index.ts';
import { build } from '../build.mjs';

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  // A file with a syntax error fails its own tests; it need not keep the others from running.
  await build().catch((error: unknown) => console.error(`dist/ is not up to date: ${String(error)}`));
  if (process.env.CASCADE_TEST_MONGO) return undefined;
  const dataDir = await mkdtemp(join(tmpdir(), 'cascade-test-'));
  const mongod = await openEmbeddedMongod({ dataDir, log: pino({ level: 'warn' }) });
  process.env.CASCADE_TEST_MONGO = mongod.uri;
  guard(mongod.pid!, dataDir);
  return async () => {
    await mongod[Symbol.asyncDispose]();
    await rm(dataDir, { recursive: true, force: true });
  };
}

/** A run that is killed can't clean up: a small watcher does it, which ends with either of us. */
function guard(pid: number, folder: string): void {
  const script = 'while kill -0 "$1" && kill -0 "$2"; do sleep 1; done; kill -9 "$2"; rm -rf "$3"';
  spawn('/bin/sh', ['-c', script, 'guard', String(process.pid), String(pid), folder], { detached: true, stdio: 'ignore' }).unref();
}
