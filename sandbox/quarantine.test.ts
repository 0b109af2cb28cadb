import { expect, test } from 'vitest';
import type { LaneRun } from './isolate-state.ts';
import { Quarantine } from './quarantine.ts';

const runOf = (namespace: string): LaneRun => ({ request: { namespace } }) as LaneRun;

test('a namespace is held while it has suspects', () => {
  const quarantine = new Quarantine(1000);
  const [one, two] = [runOf('n'), runOf('n')];
  quarantine.suspect(one);
  quarantine.suspect(two);
  quarantine.clear(one);
  expect([quarantine.holds('n', 0), quarantine.holds('m', 0)]).toEqual([true, false]);
  quarantine.clear(two);
  quarantine.clear(two);
  expect(quarantine.holds('n', 0)).toBe(false);
});

test('a convicted namespace is held for its time', () => {
  const quarantine = new Quarantine(1000);
  quarantine.convict('n', 500);
  expect([quarantine.holds('n', 1499), quarantine.holds('n', 1500)]).toEqual([true, false]);
  expect([quarantine.namespaces(1499), quarantine.namespaces(1500)]).toEqual([['n'], []]);
});
