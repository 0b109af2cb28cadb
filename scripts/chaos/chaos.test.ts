// The crash test, short and with a fixed seed; `npm run chaos` runs it longer, and against services that lack what makes them safe.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { amount } from '../testing/amount.ts';
import { CHAOS_FAULTS, repository } from './faults.ts';
import { chaos } from './run.ts';

const KILLS = amount(3, 8);

test('some kills, stops, slowness and a full disk: nothing is lost, doubled, wrong or unclear', { timeout: 0 }, async () => {
  const { kills, lost, doubled, wrong, unclear } = await chaos({ kills: KILLS, seed: 1 });
  expect({ kills, lost, doubled, wrong, unclear }).toEqual({ kills: KILLS, lost: [], doubled: [], wrong: [], unclear: [] });
});

test.each(CHAOS_FAULTS.flatMap(({ name, changes }) => changes.map((change) => [name, change] as const)))(
  'what the test must notice can still be made: without %s',
  (_, { file, text, replacement }) => {
    expect(readFileSync(join(repository(), file), 'utf8').split(text)).toHaveLength(2);
    expect(replacement).not.toBe(text);
  },
);
