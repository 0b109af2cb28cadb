// The order of the test files, and the table that it stands on.
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Durations, longestFirst, SHORT_S } from './sequencer.ts';

test('long files come first, then those of the pure project together, then short ones; the order is the same in each run', () => {
  const durations = { 'runtime/long.test.ts': 60, 'runtime/longer.test.ts': 90, 'stdlib/long.test.ts': 70 };
  const files = ['compiler/a', 'runtime/b', 'runtime/long', 'runtime/a', 'stdlib/long', 'runtime/longer'].map((name) => `${name}.test.ts`);
  const describe = (file: string) => ({ file, isPure: /^(compiler|stdlib)/.test(file) });
  const sorted = longestFirst(files, durations, describe);
  expect(sorted.map((file) => file.replace('.test.ts', ''))).toEqual([
    'runtime/longer',
    'runtime/long',
    'stdlib/long',
    'compiler/a',
    'runtime/a',
    'runtime/b',
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
