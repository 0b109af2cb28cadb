// Whether the simulated world notices a fault of the kernel.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { type Fault, seeding } from './seeding.ts';

/** A fault may make a world endless. No other one takes nearly as long. */
const LONGEST_WORLD_MS = 60_000;

/**
 * Runs worlds of the seeds from 1 on until one is wrong.
 * @param fault null: none
 * @returns what was wrong first; null when nothing was
 */
export async function noticed(fault: Fault | null, worlds: number, root: string): Promise<string | null> {
  const folder = await mkdtemp(join(root, 'node_modules/.faults-')); // beside the packages that the bundle imports
  try {
    const outfile = join(folder, 'worlds.mjs');
    await build({
      entryPoints: [join(root, 'scripts/faults/worlds.ts')],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node22',
      packages: 'external',
      logLevel: 'silent',
      plugins: fault ? [seeding(fault, root)] : [],
    });
    return await run(outfile, worlds);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function run(script: string, worlds: number): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--no-warnings', script, '1', String(worlds)], { stdio: ['ignore', 'pipe', 'pipe'] });
    const said = { out: '', err: '' };
    let timer: NodeJS.Timeout;
    const watch = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_WORLD_MS);
    };
    watch();
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said.out += text;
      watch();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err = (said.err + text).slice(0, 4_000)));
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (signal !== null) resolve('a world does not end');
      else if (code !== 0) resolve(`a world fails: ${/^\w*Error.*$/m.exec(said.err)?.[0] ?? said.err.trim().slice(0, 200)}`);
      else resolve(said.out.trim() || null);
    });
  });
}
