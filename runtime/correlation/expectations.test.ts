import { expect, test } from 'vitest';
import { ExpectEvery, ExpectWithin } from './expectations.ts';
import type { Evaluation, MatchedEvent, Outcome } from './types.ts';

const at = (uuid: string, atMs: number): MatchedEvent => ({ uuid, path: '/topics/t/publish', value: 'null', atMs, by: 'ann', chain: null });
const names = (evaluations: readonly Evaluation[]): string[] => evaluations.map(({ events }) => events[0]?.uuid ?? 'none');
const timeOuts = ({ timedOut }: Outcome): string[] => names(timedOut);

test('WITHIN: each event waits for the next, and a time-out comes once', () => {
  const machine = new ExpectWithin(100);
  expect(machine.nextDueMs).toBe(null);
  machine.arrive(at('one', 0), [0]);
  expect(names(machine.arrive(at('two', 60), [0]).closed)).toEqual(['one']);
  expect(timeOuts(machine.expire(159))).toEqual([]);
  expect(timeOuts(machine.expire(160))).toEqual(['two']);
  expect([timeOuts(machine.expire(1_000)), machine.open, machine.nextDueMs]).toEqual([[], 0, null]);
});

test('WITHIN: an event that comes after the time of the one before does not keep the time-out from it', () => {
  const machine = new ExpectWithin(100);
  machine.arrive(at('one', 0), [0]);
  const inTime = machine.arrive(at('two', 100), [0]);
  expect([names(inTime.closed), timeOuts(inTime)]).toEqual([['one'], []]);
  const late = machine.arrive(at('three', 201), [0]); // nobody has looked meanwhile
  expect([names(late.closed), timeOuts(late), names(late.opened)]).toEqual([[], ['two'], ['three']]);
  expect(timeOuts(machine.expire(301))).toEqual(['three']);
});

test('EVERY: a grid from the beginning, whatever comes when', () => {
  const machine = new ExpectEvery(100);
  machine.begin(50);
  expect(machine.nextDueMs).toBe(150);
  machine.arrive(at('one', 60), [0]);
  expect(machine.arrive(at('two', 70), [0]).opened).toEqual([]); // one mark an interval is enough
  expect(timeOuts(machine.expire(150))).toEqual([]);
  expect(timeOuts(machine.expire(250))).toEqual(['none']);
  machine.arrive(at('at its end', 350), [0]); // belongs to the interval that it ends
  expect(timeOuts(machine.expire(350))).toEqual([]);
  machine.arrive(at('early for the next', 460), [0]); // handled before the interval at 450 is looked at
  expect(timeOuts(machine.expire(470))).toEqual(['none']);
  expect(timeOuts(machine.expire(550))).toEqual([]);
});

test('EVERY: intervals that ended while nobody looked count as one, and the grid stays', () => {
  const machine = new ExpectEvery(100);
  const { opened } = machine.begin(0);
  const again = new ExpectEvery(100);
  for (const evaluation of opened) again.restore(evaluation);
  expect(timeOuts(again.expire(1_234))).toEqual(['none']);
  expect(again.nextDueMs).toBe(1_300);
});

test('EVERY: intervals with events change nothing that is kept, and a restart knows of the last one', () => {
  const machine = new ExpectEvery(100);
  const kept = new Set(machine.begin(0).opened);
  const take = ({ opened, closed, timedOut }: Outcome): number => {
    for (const one of opened) kept.add(one);
    for (const one of [...closed, ...timedOut]) expect(kept.delete(one)).toBe(true);
    return timedOut.length;
  };
  for (let endMs = 100; endMs <= 500; endMs += 100) {
    expect(take(machine.arrive(at(`in ${endMs}`, endMs - 30), [0]))).toBe(0);
    expect(take(machine.expire(endMs))).toBe(0);
    expect(kept.size).toBe(2); // the grid, and the mark of the interval that has just ended
  }
  const again = new ExpectEvery(100);
  for (const evaluation of kept) again.restore(evaluation);
  expect(timeOuts(again.expire(520))).toEqual([]);
  expect(again.nextDueMs).toBe(600);
  expect(timeOuts(again.expire(600))).toEqual(['none']);
});
