import { expect, test } from 'vitest';
import { replyOf } from './texts.ts';

test('short texts are one body', () => {
  expect(replyOf(['[', '1', ',2', ']'])).toEqual({ status: 200, body: '[1,2]' });
});

test('long ones are pieces, none of which is all of them', async () => {
  const texts = Array.from({ length: 40 }, (_, n) => String(n % 10).repeat(30_000));
  const { body, pieces } = replyOf(texts);
  expect(body).toBeUndefined();
  const read: string[] = [];
  for (let piece = await pieces!.next(); piece !== null; piece = await pieces!.next()) read.push(piece);
  expect(read.join('')).toBe(texts.join(''));
  expect(Math.max(...read.map(({ length }) => length))).toBeLessThan(300_000);
});

test('pieces end when they are closed', async () => {
  const { pieces } = replyOf(Array.from({ length: 40 }, () => 'a'.repeat(30_000)));
  await pieces!.next();
  await pieces!.close();
  expect(await pieces!.next()).toBeNull();
});
