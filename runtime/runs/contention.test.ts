import { expect, test } from 'vitest';
import { ObjectId } from 'mongodb';
import { Pending } from '../transactions/index.ts';
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
  lines.moveTo('t/2', 'a');
  const a = lines.turnOf('a');
  expect(await settled(a)).toBe(false);
  lines.moveTo('t/1', 'b');
  expect(await settled(lines.turnOf('b'))).toBe(true);
  expect(await settled(a)).toBe(true);
});

const change = (): Pending => new Pending('t', new ObjectId('000000000000000000000001'), { n: 1 }, 2n);

test('who is next goes on from a change that is not stored yet, and the line stands until it is', async () => {
  const lines = new Contention();
  const [instance, pending] = [change().key, change()];
  await lines.enter(instance, 'a');
  const b = lines.enter(instance, 'b');
  lines.pass(instance, 'a', pending);
  expect(await settled(b)).toBe(true);
  expect(lines.pendingFor(instance, 'a')).toBe(null);
  expect(lines.pendingFor(instance, 'b')).toBe(pending);
  lines.leave('b');
  expect(lines.isContended(instance)).toBe(true);
  pending.settle(true);
  await pending.settled();
  expect(lines.isContended(instance)).toBe(false);
});

test('nobody goes on from what was stored, or was not', async () => {
  const lines = new Contention();
  const [instance, pending] = [change().key, change()];
  await lines.enter(instance, 'a');
  lines.pass(instance, 'a', pending);
  pending.settle(false);
  await lines.enter(instance, 'b');
  expect(lines.pendingFor(instance, 'b')).toBe(null);
});

test('entering again keeps the place; one that leaves while it waits goes on without the turn', async () => {
  const lines = new Contention();
  await lines.enter('t/1', 'a');
  expect(await settled(lines.enter('t/1', 'a'))).toBe(true);
  const b = lines.enter('t/1', 'b');
  const c = lines.enter('t/1', 'c');
  lines.leave('b');
  expect([await settled(b), await settled(c)]).toEqual([true, false]);
  expect(lines.hasTurn('t/1', 'b')).toBe(false);
  lines.leave('a');
  expect(await settled(c)).toBe(true);
});

test('a rule that has lost a race takes turns in that collection, for so many reads', () => {
  const lines = new Contention();
  expect(lines.takesTurns('r', 't')).toBe(false);
  lines.lost('r', 't');
  expect([lines.takesTurns('r', 'other'), lines.takesTurns('other', 't')]).toEqual([false, false]);
  let reads = 0;
  while (lines.takesTurns('r', 't')) reads++;
  expect(reads).toBe(1_000);
  expect(lines.takesTurns('r', 't')).toBe(false);
});

test('rules that lose races are remembered, but not without end', () => {
  const lines = new Contention();
  for (let n = 0; n <= 10_000; n++) lines.lost(`r${n}`, 't');
  expect([lines.takesTurns('r0', 't'), lines.takesTurns('r1', 't')]).toEqual([false, true]);
});

test('a row is old where a run has enqueued a later version in its turn', async () => {
  const lines = new Contention();
  expect(lines.isOld('t/1', 1n)).toBe(false);
  await lines.enter('t/1', 'a');
  lines.pass('t/1', 'a', new Pending('t', new ObjectId(), {}, 5n));
  expect([4n, 5n, 6n].map((version) => lines.isOld('t/1', version))).toEqual([true, false, false]);
});
