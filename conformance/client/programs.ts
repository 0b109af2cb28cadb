// The service of programs alone (scripts/programs-only.ts) as a child process: no store, no sandbox, no users.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** What its answers say where a case asks for more than it has. */
export const NEEDS_MORE = 'needs the whole service';

const STOP_WITHIN_MS = 3_000;

export interface StartedPrograms extends AsyncDisposable {
  readonly url: string;
}

/** @param script the built service; the repository's own unless given */
export async function startPrograms(script = join(repository(), 'dist/scripts/programs-only.js')): Promise<StartedPrograms> {
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('exit', (code) => reject(new Error(`The service of programs ended at once (${code})`)));
  });
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.stdin.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS); // a program without an end does not hear it
      await ended;
      clearTimeout(timer);
    },
  };
}

/** The folder with package.json, whether this file runs from its source or from dist/. */
function repository(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}
