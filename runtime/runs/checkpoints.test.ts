import { expect, test } from 'vitest';
import { Checkpoints } from './checkpoints.ts';

test('what the parts of a statement have marked is known to its repetition', () => {
  const parts = new Checkpoints();
  parts.add({ site: '1#0', nth: 2, answer: { ok: '[]' }, seen: '1 t.Counter/key a' });
  parts.add({ site: '1#1', nth: 2, answer: { ok: '[]' } });
  parts.add({ site: '1#2', nth: 2, answer: { ok: '[]' }, seen: '1 t.Counter/key b' });
  expect([...parts.of('1', 2).keys()]).toEqual([0, 1, 2]);
  expect(parts.seenOf('1', 2)).toBe('1 t.Counter/key a\n1 t.Counter/key b');
  expect(parts.seenOf('1', 0)).toBeUndefined();
});
