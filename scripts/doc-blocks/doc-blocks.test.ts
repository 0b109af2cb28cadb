// What the `sh` blocks of the documents call of npm and of the command line must exist. The blocks themselves run against the service of
// examples/earthquakes/earthquakes.test.ts; `npm run nightly` makes the calls of npm and npx, too, in a fresh folder.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cascade } from '../../server/testing/fake-terminal.ts';
import { type Block, blocksOf, callsOf, scriptOf } from './blocks.mjs';
import { readBlocks, runBlocks } from './run.ts';

const root = join(import.meta.dirname, '../..');
const blocks = readBlocks(root);
const calls = blocks.flatMap((block) => callsOf(block).map((words) => ({ words, place: `${block.file}:${block.line}` })));

test('a block that fails, or is answered otherwise, is a fault', async () => {
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
  const { faults, status } = await runBlocks(wrong, { url: '', password: '' });
  expect(faults).toEqual([
    expect.stringContaining('a.md:1 was answered by an error'),
    expect.stringContaining('a.md:2 is answered by'),
    'a.md:5 was not reached',
  ]);
  expect(status).toBe(1);
});

test('a session is run command by command; ids follow the answers, and what is left out may be anything', async () => {
  const text = [
    '```',
    `$ api '[{"_id": 1,`,
    `   "n": 2}]'`,
    '[{"_id":"6b0118e0a1fc451960000000","n":2, …',
    '  "last":true}]',
    '',
    '$ api of/6b0118e0a1fc451960000009',
    '"of/6b01180ea1fc451960000001"',
    '```',
  ].join('\n');
  const made = `api() { case "$1" in *n*) echo '[{"_id":"6b01180ea1fc451960000001","n":2,"m":3,"last":true}]';; *) echo "\\"$1\\"";; esac; }\n`;
  const session = blocksOf('a.md', text);
  expect(session.map(({ line }) => line)).toEqual([2, 7]);
  const run = (blocks: Block[]): ReturnType<typeof runBlocks> =>
    runBlocks([{ file: 'a.md', line: 1, text: made }, ...blocks], { url: '', password: '' });
  expect(await run(session)).toEqual({ faults: [], errors: '', status: 0 });
  const [first, second] = session;
  const { faults } = await run([
    { ...first!, shown: first!.shown!.replace('true', 'false') },
    { ...second!, shown: '"of/other"' },
  ]);
  expect(faults).toEqual([expect.stringContaining('a.md:2 is answered by'), expect.stringContaining('a.md:7 is answered by')]);
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
