// Going on under another Node. The other one is a script that leaves a mark and is the running Node then.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const BIN = join(import.meta.dirname, '../../bin/cascade.js');
/** Where a module of this folder is, as text of a program. */
const here = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);

let folder: string;
let other: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cascade-become-'));
  other = join(folder, 'bin', 'node');
  await mkdir(join(folder, 'bin'));
  await writeFile(other, `#!/bin/sh\nMARK=other exec '${process.execPath}' "$@"\n`);
  await chmod(other, 0o755);
});
afterAll(() => rm(folder, { recursive: true }));

/** A program that becomes `body` under the other Node. */
async function program(name: string, body: string, canReplace: boolean): Promise<string> {
  const file = join(folder, `${name}-${canReplace}.mjs`);
  await writeFile(
    file,
    `import { become, goesOn } from ${here('./become.mjs')};
     if (!goesOn()) await become(${JSON.stringify(other)}, { canReplace: ${canReplace} });
     ${body}`,
  );
  return file;
}

interface Ended {
  code: number | null;
  signal: string | null;
  out: string;
}

async function ended(child: ChildProcess): Promise<Ended> {
  const out = child.stdout!.setEncoding('utf8').toArray();
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return { code, signal, out: (await out).join('') };
}

const start = (file: string, args: string[] = [], flags: string[] = []): ChildProcess =>
  spawn(process.execPath, [...flags, file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });

const saying = async (child: ChildProcess, text: RegExp): Promise<RegExpExecArray> => {
  let out = '';
  for await (const part of child.stdout!.iterator({ destroyOnReturn: false })) {
    out += part;
    const found = text.exec(out);
    if (found) return found;
  }
  throw new Error(`it ended without saying ${text}: ${out}`);
};

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const WAITING = `setInterval(() => {}, 1000); console.log('pid', process.pid);`;

// A process that can't become another one (an older Node) has it as a child.
describe.each([
  { how: 'as this process', canReplace: true },
  { how: 'as a child', canReplace: false },
])('$how', ({ canReplace }) => {
  test('arguments, flags, standard streams, PATH and the exit code are those of the program', async () => {
    const body = `
      let text = '';
      for await (const part of process.stdin) text += part;
      console.log(JSON.stringify([process.argv.slice(2), process.execArgv, text, process.env.PATH.split(':')[0], process.env.MARK, process.env.CASCADE_NODE_GOES_ON_FOR ?? null]));
      process.exitCode = 7;`;
    const child = start(await program('streams', body, canReplace), ['a b', '--c="d"', ''], ['--no-warnings']);
    child.stdin!.end('from outside');
    const { code, out } = await ended(child);
    expect(JSON.parse(out)).toEqual([['a b', '--c="d"', ''], ['--no-warnings'], 'from outside', join(folder, 'bin'), 'other', null]);
    expect(code).toBe(7);
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'] as const)('%s reaches the program, which ends as it likes', async (name) => {
    const file = await program(name, `process.on('${name}', () => process.exit(9)); ${WAITING}`, canReplace);
    const child = start(file);
    await saying(child, /pid \d+/);
    const end = once(child, 'exit');
    child.kill(name);
    expect(await end).toEqual([9, null]);
  });

  test('a program that is ended by a signal has ended so for whoever started it', async () => {
    const child = start(await program('killed', WAITING, canReplace));
    const [, pid] = await saying(child, /pid (\d+)/);
    const end = once(child, 'exit');
    process.kill(Number(pid), 'SIGKILL');
    expect(await end).toEqual([null, 'SIGKILL']);
  });

  test('SIGKILL to what was started leaves nothing behind', async () => {
    const child = start(await program('orphan', WAITING, canReplace));
    const [, pid] = await saying(child, /pid (\d+)/);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await expect.poll(() => isAlive(Number(pid))).toBe(false);
  });
});

test('the command goes on under the Node that CASCADE_NODE names', async () => {
  const seen = join(folder, 'seen', 'node');
  await mkdir(join(folder, 'seen'));
  await writeFile(seen, `#!/bin/sh\n[ "$1" = --version ] || echo "under the other Node: $*" >&2\nexec '${process.execPath}' "$@"\n`);
  await chmod(seen, 0o755);
  const child = spawn(process.execPath, [BIN, 'check', 'nowhere.rule'], {
    env: { ...process.env, CASCADE_NODE: seen },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const errors = child.stderr.setEncoding('utf8').toArray();
  const { code } = await ended(child);
  expect((await errors).join('')).toMatch(/^under the other Node: \S*bin\/cascade\.js check nowhere\.rule\n.*nowhere\.rule cannot be read/);
  expect(code).toBe(2);
});
