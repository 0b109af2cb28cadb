import { expect, test } from 'vitest';
import { inSlices, longWork, SliceTurns } from './slices.ts';
import { countTurns } from './testing/count-turns.ts';

test('all parts come in their order, and others have their turn between them', async () => {
  using counted = countTurns();
  function* slow(): Generator<number> {
    for (let n = 0; n < 5; n++) {
      for (const until = performance.now() + 6; performance.now() < until; );
      yield n;
    }
  }
  expect(await inSlices('a', slow())).toEqual([0, 1, 2, 3, 4]);
  expect(counted.turn).toBeGreaterThanOrEqual(4);
});

/** Works of `slices` slices each, the first letter of whose names is their owner. @returns the names by slice, and the number of turns */
async function slicesOf(names: readonly string[], slices: number): Promise<{ order: string; turns: number }> {
  using counted = countTurns();
  const done: string[] = [];
  const at = new Set<number>();
  const one = async (name: string): Promise<void> => {
    using work = longWork(name[0]!);
    for (let n = 0; n < slices; n++) {
      await work.next();
      done.push(name);
      at.add(counted.turn);
    }
  };
  await Promise.all(names.map(one));
  return { order: done.join(' '), turns: at.size };
}

test('there is one slice in a turn of the event loop, of the works of one owner in turn', async () => {
  expect(await slicesOf(['a1', 'a2', 'a3'], 2)).toEqual({ order: 'a1 a2 a3 a1 a2 a3', turns: 6 });
});

test('an owner with many works delays that of another by one slice', async () => {
  const { order } = await slicesOf(['a1', 'a2', 'a3', 'b1'], 3);
  expect(order).toBe('a1 b1 a2 b1 a3 b1 a1 a2 a3 a1 a2 a3');
});

test('a work beyond the fourth of an owner begins when one of these has ended', async () => {
  const { order } = await slicesOf(['a1', 'a2', 'a3', 'a4', 'a5', 'a6'], 2);
  expect(order).toBe('a1 a2 a3 a4 a1 a2 a3 a4 a5 a6 a5 a6');
});

test('a work that fails makes room for the next', async () => {
  function* failing(): Generator<number> {
    yield 1;
    throw new Error('no');
  }
  const works = Array.from({ length: 10 }, () => inSlices('a', failing()));
  expect((await Promise.allSettled(works)).map(({ status }) => status)).toEqual(Array(10).fill('rejected'));
  expect(await inSlices('a', [1, 2])).toEqual([1, 2]);
});

test('while there is other work, slices leave it three times as long as they take', async () => {
  let [now, othersMs, slicesMs, isOver] = [1_000, 0, 0, false];
  const other = (): void => {
    now += 0.5;
    othersMs += 0.5;
    if (!isOver) setImmediate(other);
  };
  setImmediate(other);
  using work = new SliceTurns(() => now).begin('a');
  for (let n = 0; n < 20; n++) {
    await work.next();
    now += 2;
    slicesMs += 2;
  }
  isOver = true;
  expect(othersMs / slicesMs).toBeGreaterThan(2.8); // the first slice waits for nobody
});

test('where there is no other work, slices follow one another', async () => {
  using counted = countTurns();
  let now = 1_000;
  using work = new SliceTurns(() => now).begin('a');
  for (let n = 0; n < 20; n++) {
    await work.next();
    now += 2;
  }
  expect(counted.turn).toBeLessThan(40);
});

/** Turns of the event loop that twenty slices of an owner take, with a sender of a request some ms ago. */
async function turnsBeside(sender: string, owner: string, sentMsAgo = 0): Promise<number> {
  let now = 1_000;
  const turns = new SliceTurns(() => now);
  turns.sent(sender, now - sentMsAgo);
  using counted = countTurns();
  using work = turns.begin(owner);
  for (let n = 0; n < 20; n++) {
    await work.next();
    now += 2;
  }
  return counted.turn;
}

test('while another namespace sends requests, three quarters of the thread are kept free for it, busy or not', async () => {
  const turns = new SliceTurns();
  const sending = setInterval(() => turns.sent('b', performance.now()), 5);
  turns.sent('b', performance.now());
  let slicesMs = 0;
  const begun = performance.now();
  using work = turns.begin('a');
  for (let n = 0; n < 10; n++) {
    await work.next();
    const from = performance.now();
    while (performance.now() < from + 2);
    slicesMs += performance.now() - from;
  }
  await work.next();
  clearInterval(sending);
  expect((performance.now() - begun) / slicesMs).toBeGreaterThan(3.5);
});

test('nothing is kept free for a namespace that has long works itself, of bodies or of results, nor for one that sends no more', async () => {
  expect(await turnsBeside('a', 'a')).toBeLessThan(40);
  expect(await turnsBeside('a', 'results of a')).toBeLessThan(40);
  expect(await turnsBeside('b', 'a', 201)).toBeLessThan(40);
  expect(await turnsBeside('b', 'a')).toBeGreaterThan(80);
});
