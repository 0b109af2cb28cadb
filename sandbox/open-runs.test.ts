import { expect, test } from 'vitest';
import { OpenRuns } from './open-runs.ts';

test('each number leads to its run as long as that is open, whatever others came and went', () => {
  const open = new OpenRuns<{ wireId: number }>();
  const kept = new Map<number, { wireId: number }>();
  for (let turn = 0; turn < 9_000; turn += 1) {
    const run = { wireId: open.next() };
    expect(kept.has(run.wireId)).toBe(false);
    open.put(run);
    kept.set(run.wireId, run);
    // One in seven stays; of the others the oldest goes.
    if (turn % 7 === 0) continue;
    const [first] = kept.values();
    if (!first) continue;
    open.remove(first);
    kept.delete(first.wireId);
    expect(open.get(first.wireId)).toBeUndefined();
  }
  expect(open.size).toBe(kept.size);
  for (const [wireId, run] of kept) expect(open.get(wireId)).toBe(run);
  expect(new Set(open)).toEqual(new Set(kept.values()));
});
