import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { chainOf } from './index.ts';
import { endOrphans } from './orphans.ts';
import { findProgram } from './programs.ts';

const bwrap = findProgram('bwrap');
const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Bubblewrap that waits with what it tells its inner process: for a byte in descriptor 3 that never comes. */
async function waiting(file: string): Promise<{ outer: ReturnType<typeof spawn>; inner: number }> {
  const args = ['--unshare-user', '--unshare-pid', '--die-with-parent', '--userns-block-fd', '3', '--info-fd', '4', '--dev-bind', '/', '/'];
  const outer = spawn(bwrap as string, [...args, process.execPath, file], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  await once(outer, 'spawn');
  let inner = 0;
  await expect.poll(() => (inner = chainOf(outer.pid as number)[1] ?? 0)).toBeGreaterThan(0);
  return { outer, inner };
}

test.runIf(bwrap !== null)(
  'an inner process whose outer one was killed while it waited is ended; one whose outer one lives is not',
  async () => {
    const file = `/orphans-${process.pid}.js`;
    const living = await waiting(file);
    const { outer, inner } = await waiting(file);
    outer.kill('SIGKILL');
    await once(outer, 'exit');
    expect(isThere(inner)).toBe(true);
    expect(await endOrphans(`${file}.other`)).toBe(0);
    expect(await endOrphans(file)).toBe(1);
    await expect.poll(() => isThere(inner)).toBe(false);
    expect(isThere(living.inner)).toBe(true);
    living.outer.kill('SIGKILL');
    await once(living.outer, 'exit');
    await expect.poll(() => endOrphans(file)).toBe(1);
  },
);
