import { expect, test } from 'vitest';
import { HashingLine } from './hashing.ts';

test('two run at once, fifty wait in order, the others are refused', async () => {
  const line = new HashingLine();
  const finish: (() => void)[] = [];
  const begun: number[] = [];
  const work = (number: number) => () => {
    begun.push(number);
    return new Promise<void>((done) => finish.push(done));
  };
  const all = Array.from({ length: 60 }, (_, number) => line.run(work(number)));
  const settled = Promise.allSettled(all);
  await Promise.all(all.slice(52).map((one) => expect(one).rejects.toMatchObject({ code: 'cascade.security.rate.limited', status: 429 })));
  expect(begun).toEqual([0, 1]);
  for (let ended = 0; ended < 52; ended++) {
    finish[ended]?.();
    await all[ended];
    await Promise.resolve();
  }
  await settled;
  expect(begun).toEqual(Array.from({ length: 52 }, (_, number) => number));
  const late = line.run(work(60));
  finish.at(-1)?.();
  await late;
});

test('a failure gives its place back', async () => {
  const line = new HashingLine();
  for (let i = 0; i < 5; i++) await expect(line.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await line.run(() => Promise.resolve(1))).toBe(1);
});
