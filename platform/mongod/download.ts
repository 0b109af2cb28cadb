// A mongod from MongoDB's own server (or MONGOMS_DOWNLOAD_MIRROR), for any system that it serves, checked against the MD5 beside it.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';

/** What the downloading process tells. `asked`: the host; `isAbsent`: there is no such version for this system; another may be there. */
export type DownloadMessage =
  | { asked: string }
  | { received: number; of: number }
  | { file: string }
  | { failed: string; isAbsent: boolean };

export interface DownloadTimes {
  /** From the request to the first byte. Where the server is out of reach, a start must not wait long for it: there is another way. */
  readonly connectMs: number;
  /** Between two bytes, and for unpacking. */
  readonly silentMs: number;
}
const TIMES: DownloadTimes = { connectMs: 10_000, silentMs: 60_000 };
const PROGRESS_EVERY_MS = 3_000;
const MEGABYTE = 2 ** 20;

/** The version is not there for this system; another may be. */
export class AbsentVersion extends Error {}

/** The process as built, also when this file runs from its TypeScript source (as in tests). */
const program = fileURLToPath(
  import.meta.url.endsWith('.ts')
    ? new URL('../../dist/platform/mongod/download-process.js', import.meta.url)
    : new URL('./download-process.js', import.meta.url),
);

/**
 * Puts the mongod of that version at `file`, whole or not at all; several at once don't disturb each other.
 * @throws AbsentVersion, or Error with the reason
 */
export async function downloadMongod(
  version: string,
  file: string,
  env: NodeJS.ProcessEnv,
  log: Logger,
  times: DownloadTimes = TIMES,
): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  // A folder of its own: what an attempt leaves behind, whole or torn, is never taken for a download by the next.
  const work = await mkdtemp(join(dirname(file), 'fetch-'));
  try {
    log.info(`fetching MongoDB ${version} (about 80 MB, once; it is kept in ${dirname(dirname(file))})`);
    await rename(await runDownload(version, work, env, log, times), file);
    log.info(`MongoDB ${version} is in place`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** @returns the file with the mongod, in `folder` */
async function runDownload(version: string, folder: string, env: NodeJS.ProcessEnv, log: Logger, times: DownloadTimes): Promise<string> {
  const child = fork(program, [JSON.stringify({ folder, version })], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: {
      ...env,
      MONGOMS_DOWNLOAD_DIR: folder,
      MONGOMS_SYSTEM_BINARY: '',
      MONGOMS_VERSION: version,
      MONGOMS_MD5_CHECK: 'true',
      MONGOMS_RESUME_DOWNLOAD: 'false',
      MONGOMS_PREFER_GLOBAL_PATH: 'false',
      npm_config_strict_ssl: env.npm_config_strict_ssl ?? 'true', // without it the downloader would believe any certificate
    },
  });
  const exited = once(child, 'exit');
  const complaints: string[] = [];
  child.stderr?.on('data', (chunk: Buffer) => complaints.push(String(chunk)));
  let silence: NodeJS.Timeout | undefined;
  try {
    return await new Promise<string>((resolve, reject) => {
      const within = (ms: number, what: string): void => {
        clearTimeout(silence);
        silence = setTimeout(() => reject(new Error(`${what} for ${ms / 1_000} s`)), ms);
      };
      let saidAt = performance.now();
      within(times.silentMs, 'the download did not begin');
      child.once('error', reject);
      child.on('message', (message: DownloadMessage) => {
        if ('file' in message) return resolve(message.file);
        if ('failed' in message) return reject(new (message.isAbsent ? AbsentVersion : Error)(message.failed));
        if ('asked' in message) return within(times.connectMs, `${message.asked} did not answer`);
        within(times.silentMs, 'its server sent nothing');
        if (performance.now() - saidAt < PROGRESS_EVERY_MS) return;
        saidAt = performance.now();
        log.info(`fetching MongoDB ${version}: ${Math.round(message.received / MEGABYTE)} of ${Math.round(message.of / MEGABYTE)} MB`);
      });
      child.once('exit', (status, signal) => {
        const last = complaints.join('').trim().split('\n').at(-1);
        reject(new Error(`the download ended (${status ?? signal})${last ? `: ${last}` : ''}`));
      });
    });
  } finally {
    clearTimeout(silence);
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await exited.catch(() => undefined); // it could not even be started: said above
  }
}
