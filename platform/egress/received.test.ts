// Room for answers: bounds that hold whatever comes in which order, turns between namespaces, and answers that are always finished.
import { expect, test } from 'vitest';
import { type AnswerRoom, ReceivedBudget } from './index.ts';

const MIB = 1024 * 1024;
const LIMITS = { most: 40 * MIB, mostEach: 20 * MIB, mostOfOne: 10 * MIB, patienceMs: 60_000 };

/** Whether a promise is settled when everything that was waiting for its turn has had it. */
async function isSettled(waits: void | Promise<void>): Promise<boolean> {
  let settled = false;
  void Promise.resolve(waits).then(() => (settled = true));
  for (let i = 0; i < 10; i++) await Promise.resolve();
  return settled;
}

test('what has no room waits until other answers are handed on, and small answers are not counted', async () => {
  const budget = new ReceivedBudget(LIMITS);
  const first = budget.room('a');
  await first.grow(10 * MIB);
  const last = budget.room('a');
  await last.grow(1 * MIB); // the part for one answer at a time
  const third = budget.room('a');
  const waits = third.grow(1 * MIB);
  expect(await isSettled(waits)).toBe(false);
  await budget.room('a').grow(60 * 1024);
  await budget.room('b').grow(10 * MIB);
  expect(await isSettled(last.grow(9 * MIB))).toBe(true);
  first.clear();
  expect(await isSettled(waits)).toBe(true);
});

test('namespaces have room in turn, however many answers one of them waits for', async () => {
  const budget = new ReceivedBudget({ ...LIMITS, most: 20 * MIB, mostEach: 20 * MIB });
  const [holder, user] = [budget.room('x'), budget.room('y')];
  await holder.grow(10 * MIB);
  await user.grow(10 * MIB); // the last part of all
  const order: string[] = [];
  const grown = ['a', 'a', 'a', 'b', 'c'].map(async (namespace, i) => {
    using room = budget.room(namespace);
    await room.grow(5 * MIB);
    order.push(`${namespace}${i}`);
    await Promise.resolve();
  });
  expect(budget.waiting).toBe(5);
  user.clear();
  holder.clear();
  await Promise.all(grown);
  expect(order.indexOf('b3')).toBeLessThan(order.indexOf('a2'));
  expect(order.indexOf('c4')).toBeLessThan(order.indexOf('a2'));
  expect([budget.held, budget.waiting]).toEqual([0, 0]);
});

/** A fixed sequence of numbers below 1. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

test('whatever the order, bounds hold and every answer that is half read is finished', async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const next = numbers(seed);
    const budget = new ReceivedBudget(LIMITS);
    const held = new Map<string, number>();
    const read = async (namespace: string): Promise<void> => {
      using room = budget.room(namespace);
      let left = Math.ceil(next() * 10 * MIB);
      while (left > 0) {
        const piece = Math.min(left, Math.ceil(next() * 2 * MIB));
        left -= piece;
        await room.grow(piece);
        held.set(namespace, (held.get(namespace) ?? 0) + piece);
        expect(budget.held).toBeLessThanOrEqual(LIMITS.most);
        expect(held.get(namespace)).toBeLessThanOrEqual(LIMITS.mostEach + 64 * 1024 * 12);
        if (next() < 0.5) await Promise.resolve();
      }
      held.set(namespace, (held.get(namespace) ?? 0) - room.bytes);
    };
    await Promise.all(Array.from({ length: 60 }, (_, i) => read('abcdef'[i % 6] as string)));
    expect([budget.held, budget.waiting]).toEqual([0, 0]);
  }
});

test('an answer without room in time is refused, one that nobody wants any more gives up at once', async () => {
  const budget = new ReceivedBudget({ ...LIMITS, patienceMs: 20 });
  const [first, second, third] = [budget.room('a'), budget.room('a'), budget.room('a')];
  await first.grow(10 * MIB);
  await second.grow(1 * MIB);
  await expect(third.grow(1 * MIB)).rejects.toMatchObject({ code: 'cascade.quota.exceeded', params: ['receivedBytes', LIMITS.mostEach] });
  const leaving = new AbortController();
  const waits = third.grow(1 * MIB, leaving.signal);
  leaving.abort();
  await expect(waits).rejects.toThrow('not wanted');
  const disposed = third.grow(1 * MIB);
  third.clear();
  await expect(disposed).rejects.toThrow('not wanted');
  for (const room of [first, second]) room.clear();
  expect([budget.held, budget.waiting]).toEqual([0, 0]);
});

test('values count with their text until they are there, and what is handed over is counted once', async () => {
  const budget = new ReceivedBudget();
  const [answer, page] = [budget.room('a'), budget.room('a')] as [AnswerRoom, AnswerRoom];
  await answer.grow(MIB);
  await answer.growForValues();
  expect(budget.held).toBe(17 * MIB);
  answer.settle();
  page.absorb(answer);
  answer.clear();
  expect([budget.held, page.bytes]).toEqual([MIB, MIB]);
  page.clear();
  expect(budget.held).toBe(0);
});
