// The `sh` blocks of the documents against one service; what they call of npm and the command line must exist. `npm run nightly` makes these
// calls, too, in a fresh folder.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type StartedService, startService } from '../../conformance/client/index.ts';
import { cascade } from '../../server/testing/fake-terminal.ts';
import { type Block, blocksOf, callsOf, DOCUMENTS, faultsOf, scriptOf, toScript } from './blocks.mjs';

const root = join(import.meta.dirname, '../..');
const blocks = DOCUMENTS.flatMap((name) => blocksOf(name, readFileSync(join(root, name), 'utf8')));
const calls = blocks.flatMap((block) => callsOf(block).map((words) => ({ words, place: `${block.file}:${block.line}` })));

describe('every block', () => {
  let service: StartedService;
  let folder: string;
  beforeAll(async () => {
    service = await startService();
    folder = mkdtempSync(join(tmpdir(), 'cascade-docs-'));
  });
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  async function run(some: readonly Block[]) {
    const env = { ...process.env, DOC_URL: service.url, DOC_PASSWORD: service.password, DOC_FOLDER: folder };
    const shell = spawn('bash', ['-c', toScript(some, { whole: false })], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [output, errors, [status]] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'close')]);
    return { faults: faultsOf(some, output), errors, status: status as number };
  }

  test('runs against a service and is answered as the document shows', async () => {
    expect(blocks.length).toBeGreaterThan(12);
    expect(await run(blocks)).toEqual({ faults: [], errors: '', status: 0 });
  });

  test('that fails, or is answered otherwise, is a fault', async () => {
    const block = (line: number, script: string, expected?: string): Block => ({
      ...{ file: 'a.md', line, text: `${script}\n` },
      ...(expected !== undefined && { expected }),
    });
    const wrong = [
      block(1, `echo '[{"code":"cascade.x"}]'`),
      block(2, `echo '{"a": "6b0118e0a1fc451960000000", "b": 1}'`, '{"b": 2, "a": 1}'),
      block(3, `echo '{"a": "6b0118e0a1fc451960000000"}'`, '{"a": "6b0118e0a1fc451960000001"}'),
      block(4, 'false'),
      block(5, 'true'),
    ];
    const { faults, status } = await run(wrong);
    expect(faults).toEqual([
      expect.stringContaining('a.md:1 was answered by an error'),
      expect.stringContaining('a.md:2 is answered by'),
      'a.md:5 was not reached',
    ]);
    expect(status).toBe(1);
  });
});

test('every npm script of a block exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
  const named = calls.map(({ words }) => scriptOf(words)).filter((name) => name !== undefined);
  expect(named.filter((name) => name !== 'ci' && !(name in scripts))).toEqual([]);
  expect(named).toContain('start');
});

test('every command of a block exists, with its options and files', async () => {
  const wrong: string[] = [];
  const commands = calls.filter(({ words }) => words.includes('npx'));
  for (const { words, place } of commands) {
    const [, , name = '', second = ''] = words.slice(words.indexOf('npx'));
    const command = name === 'admin' ? [name, second] : [name];
    const { code, out } = await cascade([...command, '--help']);
    const options = words.filter((word) => /^--\w/.test(word)).filter((option) => !new RegExp(`^ +(-\\w, )?${option}\\b`, 'm').test(out));
    const files = words.filter((word) => /^examples\//.test(word) && !word.includes('*') && !existsSync(join(root, word)));
    if (code !== 0 || options.length > 0 || files.length > 0)
      wrong.push(`${place}: ${words.join(' ')} (${[...options, ...files].join(' ')})`);
  }
  expect(commands.length).toBeGreaterThan(8);
  expect(wrong).toEqual([]);
});
