import { expect, test } from 'vitest';
import { Contention } from './contention.ts';

const settled = async (promise: Promise<void>): Promise<boolean> =>
  Promise.race([promise.then(() => true), new Promise<boolean>((resolve) => setTimeout(resolve, 5, false))]);

test('the first in line goes at once, the next when it leaves', async () => {
  const lines = new Contention();
  await lines.enter('t/1', 'a');
  const b = lines.enter('t/1', 'b');
  const c = lines.enter('t/1', 'c');
  expect(await settled(b)).toBe(false);
  lines.leave('a');
  expect(await settled(b)).toBe(true);
  expect(await settled(c)).toBe(false);
  lines.leave('b');
  expect(await settled(c)).toBe(true);
  lines.leave('c');
  expect(lines.isContended('t/1')).toBe(false);
});

test('a turn is over once the instance is changed, and not before', async () => {
  const lines = new Contention();
  await lines.enter('t/1', 'a');
  const b = lines.enter('t/1', 'b');
  lines.changed(['t/2'], 'a');
  expect(await settled(b)).toBe(false);
  lines.changed(['t/2', 't/1'], 'a');
  expect(await settled(b)).toBe(true);
  expect(lines.isEngaged('a')).toBe(false);
});

test('who wants another instance gives up its place in the first line: two runs never wait for each other', async () => {
  const lines = new Contention();
  await lines.enter('t/1', 'a');
  await lines.enter('t/2', 'b');
  const a = lines.moveTo('t/2', 'a');
  expect(await settled(a)).toBe(false);
  expect(await settled(lines.moveTo('t/1', 'b'))).toBe(true);
  expect(await settled(a)).toBe(true);
});

test('entering again keeps the place, and one that leaves while waiting is passed over', async () => {
  const lines = new Contention();
  await lines.enter('t/1', 'a');
  expect(await settled(lines.enter('t/1', 'a'))).toBe(true);
  const b = lines.enter('t/1', 'b');
  const c = lines.enter('t/1', 'c');
  lines.leave('b');
  lines.leave('a');
  expect(await settled(c)).toBe(true);
  expect(await settled(b)).toBe(false);
});
