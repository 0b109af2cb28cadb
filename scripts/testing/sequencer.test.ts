// The order of the test files, and the table that it stands on.
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Durations, longestFirst, SHORT_S } from './sequencer.ts';

test('files of a project stand together, the longest first; the order is the same in each run', () => {
  const durations = { 'runtime/long.test.ts': 60, 'runtime/longer.test.ts': 90, 'stdlib/long.test.ts': 70, 'conformance/long.test.ts': 20 };
  const names = [
    'compiler/a',
    'runtime/b',
    'runtime/long',
    'conformance/a',
    'runtime/a',
    'stdlib/long',
    'conformance/long',
    'runtime/longer',
  ];
  const files = names.map((name) => `${name}.test.ts`);
  const project = (file: string): string =>
    /^(compiler|stdlib)/.test(file) ? 'pure' : file.startsWith('conf') ? 'own-process' : 'service';
  const describe = (file: string) => ({ file, project: project(file) });
  const sorted = longestFirst(files, durations, describe);
  expect(sorted.map((file) => file.replace('.test.ts', ''))).toEqual([
    ...['conformance/long', 'conformance/a'],
    ...['stdlib/long', 'compiler/a'],
    ...['runtime/longer', 'runtime/long', 'runtime/a', 'runtime/b'],
  ]);
  expect(longestFirst([...files].reverse(), durations, describe)).toEqual(sorted);
});

test('the table names files that exist and take long', () => {
  const durations = JSON.parse(readFileSync(new URL('durations.json', import.meta.url), 'utf8')) as Durations;
  for (const [file, seconds] of Object.entries(durations)) {
    expect(existsSync(file), file).toBe(true);
    expect(seconds, file).toBeGreaterThanOrEqual(SHORT_S);
  }
});
