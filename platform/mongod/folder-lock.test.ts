import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { lockFolder } from './folder-lock.ts';
import { fingerprint } from './processes.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cascade-lock-'));
  folders.push(folder);
  return folder;
}

const lockProgram = new URL('../../dist/platform/mongod/folder-lock.js', import.meta.url).href;

/** A process that tries to take the lock at a given moment, says `taken` or `refused`, and stays. */
function contender(folder: string, at: number): { answer: Promise<string>; kill(): void } {
  const text = `import { lockFolder } from ${JSON.stringify(lockProgram)};
    while (Date.now() < ${at});
    try { lockFolder(${JSON.stringify(folder)}); console.log('taken'); } catch (error) { console.log(/in use/.test(error.message) ? 'refused' : error.stack); }
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], { stdio: ['ignore', 'pipe', 'inherit'] });
  return { answer: once(child.stdout, 'data').then(([data]) => String(data).trim()), kill: () => void child.kill('SIGKILL') };
}

test('a folder that is taken is refused until it is given back', () => {
  const folder = newFolder();
  const lock = lockFolder(folder);
  expect(() => lockFolder(folder)).toThrow(`process ${process.pid}`);
  lock[Symbol.dispose]();
  lockFolder(folder)[Symbol.dispose]();
  expect(readdirSync(folder)).toHaveLength(1);
});

test('a lock of a dead process, and one whose number now belongs to another process, are taken over', () => {
  const folder = newFolder();
  writeFileSync(join(folder, 'service.7.lock'), fingerprint(2 ** 22 + 1));
  expect(() => lockFolder(folder)[Symbol.dispose]()).not.toThrow();
  writeFileSync(join(folder, 'service.12.lock'), `${process.pid} 1 another start of the machine`);
  expect(() => lockFolder(folder)[Symbol.dispose]()).not.toThrow();
});

test('of several that find a dead lock at the same moment exactly one gets it', async () => {
  const folder = newFolder();
  writeFileSync(join(folder, 'service.3.lock'), fingerprint(2 ** 22 + 1));
  const at = Date.now() + 800;
  const contenders = Array.from({ length: 5 }, () => contender(folder, at));
  try {
    const answers = await Promise.all(contenders.map(({ answer }) => answer));
    expect(answers.sort()).toEqual(['refused', 'refused', 'refused', 'refused', 'taken']);
  } finally {
    for (const { kill } of contenders) kill();
  }
});
