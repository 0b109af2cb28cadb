import { expect, test } from 'vitest';
import { AttemptReads } from './attempt-reads.ts';
import type { Contention } from '../contention.ts';

const reads = (): AttemptReads =>
  new AttemptReads({ id: 'e/r/1', ruleName: 'r', isTraced: false, holdsLocks: false }, {} as unknown as Contention);

test('what the attempt has read itself is what it read, whatever older versions the history shows it afterwards', () => {
  const made = reads();
  made.remember('t.Counter/c', 2n);
  expect(made.hasReadOther('t.Counter/c', 9n)).toBe(false);
  made.record('t.Counter', 'c', 9n);
  made.remember('t.Counter/c', 2n);
  expect(made.hasReadOther('t.Counter/c', 9n)).toBe(false);
  expect(made.hasReadOther('t.Counter/c', 10n)).toBe(true);
  expect(made.expected('t.Counter', 'c')).toBe(2n);
});
