// The nightly run knows everything that explores, and its steps can be called.
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { randomTests, readSeeds } from './random-tests.mjs';
import { choose, plan } from './nightly-plan.mjs';
import { findTestFiles } from './run-vitest.mjs';

const root = process.cwd();
const scripts = (JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }).scripts;
const all = plan({ only: [], minutes: 1, seed: 1 });

test('each step of the nightly run is a script of the package or a file', () => {
  for (const { name, command } of all) {
    const [program, second, third, fourth] = command;
    expect(program === 'npm' ? Object.keys(scripts) : [second], name).toContain(program === 'npm' ? fourth : second);
    if (program === 'npm') expect([second, third]).toEqual(['run', '-s']);
    else expect(existsSync(second!), name).toBe(true);
  }
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
});

test('every script that explores is in the nightly run', () => {
  const called = all.flatMap(({ command }) => command);
  for (const name of ['faults', 'mutation', 'flood', 'crosscheck', 'fuzz:api', 'hostile', 'chaos']) expect(called).toContain(name);
  for (const file of ['scripts/fuzz.mjs', 'scripts/test.mjs']) expect(called).toContain(file);
});

test('patterns of the tests that are repeated find files', () => {
  const { command } = all.find(({ name }) => name === 'concurrent')!;
  for (const pattern of command.slice(2)) expect(findTestFiles(root, [pattern]).length, pattern).toBeGreaterThan(0);
});

test('--only, --minutes and --seed are taken, and refused when they are wrong', () => {
  expect(choose(['--only', 'fuzz', '--only', 'chaos', '--minutes', '3', '--seed', '7'], 1)).toEqual({
    only: ['fuzz', 'chaos'],
    minutes: 3,
    seed: 7,
    list: false,
  });
  expect(choose([], 9)).toMatchObject({ only: [], seed: 9 });
  for (const args of [['--only', 'nothing'], ['--minutes', '0'], ['--minutes', 'x'], ['--seed', '-1'], ['--what']])
    expect(choose(args, 1), args.join(' ')).toHaveProperty('error');
});

test('the fuzzer runs all tests of random inputs, and the seeds that are kept belong to them', () => {
  const files = randomTests(root);
  const importing = findTestFiles(root).filter((file) => /^import .* from 'fast-check';$/m.test(readFileSync(file, 'utf8')));
  expect(importing.length).toBeGreaterThan(20);
  for (const file of importing) expect(files).toContain(file);
  expect(files).toContain('runtime/triggers/trigger-index.test.ts');
  expect(files).toContain('conformance/differential/differential.test.ts');
  expect(files).not.toContain('platform/structures/fifo.test.ts');
  for (const { file, seed } of readSeeds(root)) {
    expect([...files, 'engine/crash-simulation.test.ts']).toContain(file);
    expect(Number.isSafeInteger(seed)).toBe(true);
  }
});
