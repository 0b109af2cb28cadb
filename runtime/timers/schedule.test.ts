import fc from 'fast-check';
import { expect, test } from 'vitest';
import { afterDelivery, afterNewPeriod, DueHeap, firstDelivery, Past, type Period, Unplanned } from './index.ts';

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 0, 1, 10, 7);
const at = (hour: number, minute: number): number => Date.UTC(2026, 0, 1, hour, minute);
const first = (periodic: boolean, intervalMs: number | null, occursAtMs: number | null, past: 'refused' | 'at once' = 'refused'): number =>
  firstDelivery({ periodic, intervalMs, calendar: null, occursAtMs }, NOW, past).firstMs;
const every = (minutes: number): Period => ({ intervalMs: minutes * MINUTE });

test('integrations.md 10.2: valid and invalid schedules, and the time of the first delivery', () => {
  expect(first(false, 500, null)).toBe(NOW + 500);
  expect(first(true, MINUTE, null)).toBe(NOW + MINUTE);
  expect(first(false, null, NOW + 1)).toBe(NOW + 1);
  expect(first(true, MINUTE, NOW + 5)).toBe(NOW + 5);
  for (const refused of [
    () => first(false, 1, NOW + 1),
    () => first(false, null, null),
    () => first(true, null, NOW + 1),
    () => first(true, 999, null),
  ])
    expect(refused).toThrow(Unplanned);
  expect(() => first(false, null, NOW)).toThrow(Past);
  expect(first(false, null, NOW - 1, 'at once')).toBe(NOW - 1);
});

test('integrations.md 10.2: a statement at 10:07 with occursAt 10:00 and 5 minutes goes on at 10:10 and 10:15', () => {
  const second = afterDelivery(first(true, 5 * MINUTE, at(10, 0), 'at once'), every(5), NOW);
  expect(second).toBe(at(10, 10));
  expect(afterDelivery(second, every(5), second + 3)).toBe(at(10, 15));
  expect(afterDelivery(second, every(5), at(12, 2))).toBe(at(12, 5)); // many missed: one delivery, then the grid
});

test('integrations.md 10.3: a new interval counts from the last delivery', () => {
  expect(afterNewPeriod(at(10, 5), every(10), NOW)).toBe(at(10, 15));
  expect(afterNewPeriod(at(10, 5), every(1), NOW)).toBe(NOW + MINUTE);
});

test('the heap gives the same names as a sorted list, whatever is changed or removed', () => {
  const change = fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    timeMs: fc.nat(20),
    kind: fc.constantFrom('set', 'set', 'remove', 'take'),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 300 }), (changes) => {
      const heap = new DueHeap();
      const model = new Map<string, number>();
      for (const { name, timeMs, kind } of changes) {
        if (kind === 'set') {
          heap.set(name, timeMs);
          model.set(name, timeMs);
        } else if (kind === 'remove') {
          heap.remove(name);
          model.delete(name);
        } else {
          const due = [...model].filter(([, time]) => time <= timeMs).sort(([, a], [, b]) => a - b);
          for (const [one] of due) model.delete(one);
          const taken = heap.takeDue(timeMs);
          expect(taken.map((one) => one.timeMs)).toEqual(due.map(([, time]) => time));
          expect(taken.map((one) => one.name).sort()).toEqual(due.map(([one]) => one).sort());
        }
        expect(heap.nextMs()).toBe(model.size === 0 ? null : Math.min(...model.values()));
        expect(heap.size).toBe(model.size);
      }
    }),
  );
});
