// One service a data folder. The lock is a file `service.<n>.lock` with the owner's fingerprint; the highest n is the owner.
// Whoever finds the owner dead (or gone) makes n + 1, which only one can; so a lock left by a dead process is taken over by exactly
// one of any number of contenders, also when they look at the same moment. Files below the highest are rubbish that the owner removes.
import { randomUUID } from 'node:crypto';
import { linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fingerprint, isAlive } from './processes.ts';

const NAME = /^service\.(\d+)\.lock$/;
const RELEASED = 'released';

/** Takes the folder, or throws an error that names the process that has it. The folder must exist. */
export function lockFolder(folder: string): Disposable {
  for (;;) {
    const highest = Math.max(0, ...numbers(folder));
    const owner = highest === 0 ? undefined : read(folder, highest);
    if (owner !== undefined && owner !== RELEASED && isCurrent(owner))
      throw new Error(
        `The folder ${folder} is in use by another Cascade (process ${owner.split(' ')[0]}). Stop that one, or give this one another folder (--data).`,
      );
    const mine = highest + 1;
    if (!create(folder, mine) || Math.max(...numbers(folder)) !== mine) continue; // somebody was faster: look again
    for (const number of numbers(folder)) if (number < mine) rmSync(file(folder, number), { force: true });
    // The file stays, so that the numbers go on ascending: else a slow contender could still make one that we have had.
    return { [Symbol.dispose]: () => release(file(folder, mine)) };
  }
}

function release(name: string): void {
  try {
    writeFileSync(name, RELEASED);
  } catch {
    // the disk is full, or gone: when we have ended, the next one sees that
  }
}

function numbers(folder: string): number[] {
  return readdirSync(folder).flatMap((name) => Number(NAME.exec(name)?.[1] ?? []));
}

function file(folder: string, number: number): string {
  return join(folder, `service.${number}.lock`);
}

/** Whether the process that wrote it is still that process, and living. */
function isCurrent(owner: string): boolean {
  const pid = Number(owner.split(' ')[0]);
  return Number.isInteger(pid) && pid > 0 && isAlive(pid) && fingerprint(pid) === owner;
}

function read(folder: string, number: number): string | undefined {
  try {
    return readFileSync(file(folder, number), 'utf8');
  } catch {
    return undefined; // removed by a new owner just now: the next look finds that one
  }
}

/** Whole or not at all, and only one of several can: a link to a written file. */
function create(folder: string, number: number): boolean {
  const temporary = join(folder, `.${randomUUID()}`);
  try {
    writeFileSync(temporary, fingerprint(process.pid), { mode: 0o600 });
    linkSync(temporary, file(folder, number));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}
